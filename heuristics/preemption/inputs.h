// What a preemption plan is made from, and in which state.
#pragma once

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/leading_levels.h"
#include "heuristics/state/stop_request.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// All must outlive the planner. `chooser` and `placer` work on `state`; `bounds` and `rules` are those of the snapshot
// as it was before any change.
struct PreemptionInputs {
  const Problem& problem;
  const FairShares& shares;
  const QueueBounds& bounds;
  const EvictionRules& rules;
  ClusterState& state;
  placement::NodeChooser& chooser;
  placement::GangPlacer& placer;
  const StopRequest& stop;
  const LeadingLevels* levels = nullptr;  // as counted of what `state` is a copy of; may be none
};

}  // namespace muster::preemption
