// A plan that is being changed: the cluster with its evictions and placements carried out.
#pragma once

#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/planned_eviction.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::local_search {

// The placements change, the evictions do not.
struct PlanState {
  // `plan`: one that obeys the rules. `before`: the snapshot as it is. Cost: O(queues + pods of the plan).
  PlanState(const Plan& plan, ClusterState before);

  std::vector<PlannedEviction> evictions;
  QueueBounds bounds;
  ClusterState state;
};

}  // namespace muster::local_search
