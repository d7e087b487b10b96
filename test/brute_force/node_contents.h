// All that may be put on one node next to what runs there, by kinds of pods, and the best arrangement on the devices.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"
#include "test/brute_force/instances/pod_kinds.h"

namespace muster::brute_force {

struct PutPod {
  std::size_t kind = 0;
  std::vector<std::int32_t> devices;  // ascending
};

struct NodeContent {
  Counts counts;
  std::int64_t last_level = 0;  // what the node then adds to the last level: the least of all arrangements
  std::vector<PutPod> pods;     // one arrangement that does
};

// Every content that fits the node once releasing pods are gone, the empty one included; of each the best arrangement.
// `allowed` by kind: whether its pods may come here. Anti-affinity is not examined.
std::vector<NodeContent> contents_of(const Problem& problem, const std::vector<PodKind>& kinds, NodeIndex node,
                                     const std::vector<bool>& allowed);

}  // namespace muster::brute_force
