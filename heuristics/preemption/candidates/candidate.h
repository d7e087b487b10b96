// A node that can take a pod once some victims have left it.
#pragma once

#include <vector>

#include "heuristics/preemption/victims/cost.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::preemption {

struct NodeCandidate {
  VictimCost cost;  // of all victims
  NodeIndex node;
  std::vector<VictimUnit> victims;
};

// Whether disruption budgets allow that all of the candidate's victims leave in the current state. Cost: O(pods x
// budgets of each).
bool budgets_allow(const ClusterState& state, const NodeCandidate& candidate);
// Whether any pod on the node counts in a budget that allows some evictions, but not all.
bool has_budgets(const ClusterState& state, NodeIndex node);

}  // namespace muster::preemption
