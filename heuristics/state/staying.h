// Rule Exceeded: whether a pod still fits where the snapshot runs it.
#pragma once

#include "heuristics/state/cluster_state.h"

namespace muster {

// Whether a pod that is not present fits on the node and devices where the snapshot runs it. On a node whose pods
// exceed what it reports, it fits if no placed pod takes any of the resources and devices that it needs. Cost:
// O(resources + devices), on such a node O(pods on the node x resources), too.
bool has_room_at_home(const ClusterState& state, PodIndex pod);

}  // namespace muster
