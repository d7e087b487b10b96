// Puts a pod that has left back where it was.
#pragma once

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"

namespace muster::preemption {

// Puts the pod on the place where the snapshot runs it, or on the given place where it was before. False: some rule
// forbids it, and nothing has changed. Requires that the pod is not present. Cost: that of the fit test; if an
// anti-affinity is in the way O(pods), and O(pods of the group) if its group requires a topology level.
bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod);
bool put_back(ClusterState& state, const QueueBounds& bounds, PodIndex pod, const Place& place);

}  // namespace muster::preemption
