// Pod affinity, anti-affinity and topology spread for the pods of a random snapshot.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace muster::brute_force {

// Gives about a fourth of all seeds' snapshots such rules, with labels, namespaces and node labels for them. Draws from
// its own random numbers, so that everything else of the snapshot is the same as without. Running pods get rules, too:
// these matter if they are moved.
void add_inter_pod(nlohmann::ordered_json& snapshot, std::uint64_t seed);

}  // namespace muster::brute_force
