// Random snapshots that are small enough to look at every end state, and so full that something has to give: running
// gangs, two to three queues, two to three priorities and all actions.
#pragma once

#include <cstdint>
#include <string>

namespace muster::brute_force {

inline constexpr int kMostRunning = 6, kMostPending = 5;

// One line of `muster/v1`, without the line feed. The same seed gives the same line on every machine. What runs fits.
std::string policy_instance(std::uint64_t seed);
// The same where running pods exceed what rules allow.
std::string exceeding_instance(std::uint64_t seed);

}  // namespace muster::brute_force
