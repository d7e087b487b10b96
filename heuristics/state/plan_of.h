// From the end state of a search to the plan that leads there, and back.
#pragma once

#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

// Turns the end state of a plan (which pods are present, and where) into a plan that says so: placements with the least
// `after` lists, evictions with their reasons and claimants. Gangs whose minimum has to wait wait whole.
Plan plan_of(const Problem& problem, const ClusterState& end_state, const std::vector<PlannedEviction>& evictions);

// The same, and the placed pods that cannot be bound in any order that was found, or that would have to wait for so
// many others that no plan can name them: with them the plan breaks a rule.
struct OrderedPlan {
  Plan plan;
  std::vector<PodIndex> unbound;
};
OrderedPlan ordered_plan_of(const Problem& problem, const ClusterState& end_state,
                            const std::vector<PlannedEviction>& evictions);

// Changes the state, which is as in the snapshot, as the plan says, and returns the plan's evictions; without those
// of the gangs left out, and their placements. `left_out`: by gang; empty: none. Cost: O(pods of the plan).
std::vector<PlannedEviction> carry_out(const Plan& plan, ClusterState& state, const std::vector<bool>& left_out = {});

}  // namespace muster
