// The structures that the MILP engine builds for a problem before it searches for a plan.
#pragma once

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "solver/budget/deadline.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/demand/departure_options.h"

namespace muster::engine {

// Independent of the incumbent, for a single use: may be built concurrently with the engine that finds the incumbent.
// The problem and the shares have to last until its last use; its destructor uses neither. Cost: 0.1 s for 10,000
// nodes, half occupied, and 80,000 pods; it is given up at the deadline.
struct MilpPreparation {
  // `may_move`: false: for plans that move nothing, though the policy would allow it.
  MilpPreparation(const Problem& problem, const FairShares& fair_shares, const Deadline& deadline,
                  bool may_move = true);
  MilpPreparation(const MilpPreparation&) = delete;
  MilpPreparation& operator=(const MilpPreparation&) = delete;

  ClusterState before;
  preemption::EvictionRules rules;
  column_generation::Setting setting;
  formulation::EvictionCandidates candidates;
  column_generation::RestrictedMaster
      whole;                   // formulated early if there are so many residual classes that it is certainly not exact
  bool took_too_long = false;  // to be used
};

}  // namespace muster::engine
