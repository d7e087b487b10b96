// Host ports for some pods of a drawn snapshot.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace muster::brute_force {

// Gives one instance in five `hostPorts` that can conflict. Drawn separately from everything else, so that a seed's
// snapshot is otherwise the same. On each node at most one running pod has ports.
void add_host_ports(nlohmann::ordered_json& pods, std::uint64_t seed);

}  // namespace muster::brute_force
