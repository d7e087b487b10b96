#include "solver/engine/groundwork.h"

namespace muster {

MilpGroundwork::MilpGroundwork(const Problem& problem, const FairShares& fair_shares, const Deadline& deadline)
    : before(problem, ClusterState::Releasing::kFreed),
      rules(problem, fair_shares, before),
      setting{problem, fair_shares, rules},
      leavers(find_leavers(problem, rules, before)),
      none_reserved(problem.nodes.size(), false),
      whole(setting, before, leavers, none_reserved) {
  if (whole.supply.rooms.size() > kManyRooms) took_too_long = !whole.formulate(false, deadline);
}

SettledEvictions settle_evictions(const Problem& problem, const Plan& plan) {
  SettledEvictions settled{ClusterState(problem, ClusterState::Releasing::kFreed), no_leavers(problem), {}};
  for (const Eviction& eviction : plan.evictions) {
    settled.state.take(eviction.pod);
    settled.evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
    if (eviction.reason == EvictionReason::kStale)
      settled.leavers.gangs[problem.pods[eviction.pod].gang].excluded = true;
  }
  for (const Placement& placement : plan.placements)
    if (problem.pods[placement.pod].status == PodStatus::kRunning)
      settled.state.put(placement.pod, placement.node, placement.devices);
  return settled;
}

}  // namespace muster
