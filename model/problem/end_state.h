// Where every pod is once a plan is carried out: all evicted and releasing pods are gone, all waiting pods have
// started.
#pragma once

#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

struct EndState {
  // None: the pod has no node. Pods that run and stay, and pods that are placed, are present.
  Indexed<PodIndex, NodeIndex> node_of;
  bool is_present(PodIndex pod) const { return !node_of[pod].is_none(); }
};

// Cost: O(pods).
EndState end_state_of(const Problem& problem, const Plan& plan);

// Whether the plan puts the pod somewhere. Requires a plan in order. Cost: O(log placements).
bool is_placed(const Plan& plan, PodIndex pod);
// Whether the plan evicts the pod, moves included. The same.
bool is_evicted(const Plan& plan, PodIndex pod);

}  // namespace muster
