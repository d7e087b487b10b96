// Rule Exceeded: whether a pod has room where the snapshot runs it.
#pragma once

#include "heuristics/cluster_state.h"

namespace muster {

// Whether there is room for a pod that is not present on the node and devices where the snapshot runs it. On a node
// whose pods exceed what it reports there is, of each resource and device of which nothing that is placed takes any.
// Cost: O(resources + devices), there O(pods on the node x resources), too.
bool has_room_at_home(const ClusterState& state, PodIndex pod);

}  // namespace muster
