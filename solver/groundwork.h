// What the MILP engine makes of a problem before it looks for a plan.
#pragma once

#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/eviction_rules.h"
#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/plan.h"
#include "model/problem.h"
#include "solver/column_generation.h"
#include "solver/deadline.h"
#include "solver/leaving.h"

namespace muster {

// Of the time left: what takes longer to formulate could not be solved in time.
inline constexpr double kFormulatingShare = 0.5;

// Whatever the incumbent is, to be used once: may be made beside the engine that finds the incumbent. The problem and
// the shares have to last until its last use; its end looks at neither. Cost: 0.1 s for 10,000 nodes, half occupied,
// and 80,000 pods; a formulation is given up at the deadline.
struct MilpGroundwork {
  MilpGroundwork(const Problem& problem, const FairShares& fair_shares, const Deadline& deadline);
  MilpGroundwork(const MilpGroundwork&) = delete;
  MilpGroundwork& operator=(const MilpGroundwork&) = delete;

  ClusterState before;
  EvictionRules rules;
  Setting setting;
  Leavers leavers;
  std::vector<bool> none_reserved;
  Subproblem whole;            // formulated already where there are so many rooms that it is surely not exact
  bool took_too_long = false;  // to be formulated
};

// The cluster with a plan's evictions and moves carried out, but nothing newly placed.
struct SettledEvictions {
  ClusterState state;
  Leavers leavers;  // nobody; what has gone as stale is not placed
  std::vector<PlannedEviction> evictions;
};
SettledEvictions settle_evictions(const Problem& problem, const Plan& plan);

}  // namespace muster
