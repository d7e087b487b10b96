// What runs beyond what nodes report and rules allow, drawn into an instance.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace muster::brute_force {

// Into one instance of five: nodes lose cpu and devices that running pods hold. The same for the same seed.
void exceed_nodes(nlohmann::ordered_json& snapshot, std::uint64_t seed);

// Into every instance: running pods that rules would not let in where they are. They share host ports with others on
// their node, their selectors do not match it, it has taints or does not exist, and queues use more than their limit.
void exceed_rules(nlohmann::ordered_json& snapshot, std::uint64_t seed);

}  // namespace muster::brute_force
