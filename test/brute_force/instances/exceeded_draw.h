// Nodes that report less than their running pods take, drawn into an instance.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace muster::brute_force {

// Into one instance of five: nodes lose cpu and devices that running pods hold. The same for the same seed.
void exceed_nodes(nlohmann::ordered_json& snapshot, std::uint64_t seed);

}  // namespace muster::brute_force
