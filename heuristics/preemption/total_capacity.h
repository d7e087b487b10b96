// Quick tests against what is free on all nodes together: pods that do not even fit there fit nowhere.
#pragma once

#include <cstdint>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Whether that many pods of the class find as many devices as they ask for in the total of what is free on all nodes.
// False only if they cannot all be placed. Requires pods >= 0. Cost: O(1).
bool devices_fit_total(const ClusterState& state, const PodClass& pod_class, std::int64_t pods);
// The same for all resources of one pod. Cost: O(resources).
bool fits_total(const ClusterState& state, const PodClass& pod_class);

}  // namespace muster::preemption
