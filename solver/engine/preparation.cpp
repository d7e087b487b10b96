#include "solver/engine/preparation.h"

#include "model/base/tuning.h"

namespace muster::engine {

MilpPreparation::MilpPreparation(const Problem& problem, const FairShares& fair_shares, const Deadline& deadline,
                                 bool may_move)
    : before(problem, ClusterState::Releasing::kFreed),
      rules(problem, fair_shares, before),
      setting{problem, fair_shares, rules},
      candidates(may_move ? formulation::find_candidates(problem, rules, before)
                          : formulation::without_moves(formulation::find_candidates(problem, rules, before))),
      whole(setting, before, candidates, &deadline) {
  took_too_long = !whole.supply.is_complete;
  if (!took_too_long && whole.supply.residuals.size() > kTuning.size.many_kinds)
    took_too_long = !whole.formulate(false, deadline);
}

SettledEvictions settle_evictions(const Problem& problem, const Plan& plan) {
  SettledEvictions settled{
      ClusterState(problem, ClusterState::Releasing::kFreed), formulation::no_candidates(problem), {}};
  for (const Eviction& eviction : plan.evictions) {
    settled.state.take(eviction.pod);
    settled.evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
    if (eviction.reason == EvictionReason::kStale)
      settled.candidates.gangs[problem.pods[eviction.pod].gang].excluded = true;
  }
  for (const Placement& placement : plan.placements)
    if (problem.pods[placement.pod].status == PodStatus::kRunning)
      settled.state.put(placement.pod, placement.node, placement.devices);
  return settled;
}

}  // namespace muster::engine
