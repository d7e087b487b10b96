// What a formulation is made of: the demand, the supply, and the rules. Every family of rows reads it.
#pragma once

#include <optional>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/demand.h"
#include "solver/supply/residual_class.h"

namespace muster::formulation {

struct FormulationInput {
  const Problem& problem;
  const FairShares& shares;
  const Demand& demand;
  const PlacementZones& zones;
  const Supply& supply;
  const AntiAffinityRules& anti_affinity;
  const preemption::EvictionRules& rules;
  const ClusterState& before;  // the snapshot as it is
  const ClusterState& base;    // the same without those that may leave
  bool exact =
      false;  // has all configurations: supply and residual classes hold with equality, all levels can be expressed
  std::optional<Deadline> deadline = {};  // for building it, see ModelBuilder::begin_timed
  // No pod has a place: the supply has no residents (collect_pooled_supply), and what is asked of it
  // (Formulation::asked) is left to rows of the caller. Anti-affinity, affinity and spread are not in the model.
  bool pooled = false;
};

}  // namespace muster::formulation
