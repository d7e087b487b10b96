#include "heuristics/preemption/eviction_price.h"

#include <algorithm>
#include <limits>
#include <map>

#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

EvictionPrice::EvictionPrice(const Problem& problem)
    : problem_(problem), price_(problem.snapshot->policy.over_time.eviction_price) {
  if (!price_) return;
  for (const GangIndex gang : problem.gangs.indices()) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const PodIndex pod : problem.gangs[gang].pods) {
      if (problem.pods[pod].status == PodStatus::kRunning) least = std::min(least, loss_of(problem, pod));
    }
    least_loss_.push_back(least);
    most_loss_.push_back(most_loss_for(problem, gang, *price_));
  }
}

bool EvictionPrice::holds(const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) const {
  if (!is_set()) return true;
  std::map<GangIndex, std::int64_t> losses;
  for (const PlannedEviction& eviction : evictions) {
    if (eviction.reason == EvictionReason::kStale || eviction.for_gang.is_none()) continue;
    if (end_state.is_present(eviction.pod) && is_home(end_state, eviction.pod)) continue;
    std::int64_t& loss = losses[eviction.for_gang];
    loss = saturating_add(loss, loss_of(problem_, eviction.pod));
  }
  return std::ranges::all_of(losses, [&](const auto& one) { return one.second <= most_loss_[one.first]; });
}

}  // namespace muster::preemption
