// The structures that the MILP engine builds for a problem before it searches for a plan.
#pragma once

#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/planned_eviction.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/budget/deadline.h"
#include "solver/column_generation/subproblem.h"
#include "solver/formulation/leaving.h"

namespace muster {

// Of the time left: a model that takes longer to formulate could not be solved in time.
inline constexpr double kFormulatingShare = 0.5;

// Independent of the incumbent, for a single use: may be built concurrently with the engine that finds the incumbent.
// The problem and the shares have to last until its last use; its destructor uses neither. Cost: 0.1 s for 10,000
// nodes, half occupied, and 80,000 pods; a formulation is given up at the deadline.
struct MilpGroundwork {
  MilpGroundwork(const Problem& problem, const FairShares& fair_shares, const Deadline& deadline);
  MilpGroundwork(const MilpGroundwork&) = delete;
  MilpGroundwork& operator=(const MilpGroundwork&) = delete;

  ClusterState before;
  EvictionRules rules;
  Setting setting;
  Leavers leavers;
  std::vector<bool> none_reserved;
  Subproblem whole;            // formulated early if there are so many rooms that it is certainly not exact
  bool took_too_long = false;  // to be formulated
};

// The cluster with a plan's evictions and moves carried out, but nothing newly placed.
struct SettledEvictions {
  ClusterState state;
  Leavers leavers;  // no candidates; stale pods that left are not placed
  std::vector<PlannedEviction> evictions;
};
SettledEvictions settle_evictions(const Problem& problem, const Plan& plan);

}  // namespace muster
