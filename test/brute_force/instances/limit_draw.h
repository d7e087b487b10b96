// Limits of any resource for the queues of a drawn snapshot.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace muster::brute_force {

// Gives some queues of one instance in five limits of pods, of an extended resource, or of both. Drawn separately from
// everything else, so that a seed's snapshot is otherwise the same. What runs may exceed its limit.
void limit_queues(nlohmann::ordered_json& snapshot, std::uint64_t seed);

}  // namespace muster::brute_force
