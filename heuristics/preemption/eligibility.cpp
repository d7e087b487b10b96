#include "heuristics/preemption/eligibility.h"

#include <algorithm>

namespace muster::preemption {

bool VictimEligibility::may_reclaim(GangIndex victim) const {
  return rules_.may_reclaim(state_, claim_.claimant, victim) &&
         rules_.claims_within_share(state_, claim_.claimant, victim, claim_.added);
}

bool VictimEligibility::may_reclaim_in_scan(QueueIndex queue, GangIndex victim) {
  std::int8_t& known = may_take_from_[queue];
  known = claim_.mode == PreemptionMode::kReclaim && may_reclaim(victim) ? 1 : 0;
  return known > 0;
}

bool VictimEligibility::is_hopeless() const {
  if (claim_.mode == PreemptionMode::kSwap) return !ranks_.any_after(claim_.rank);
  const Gang& claimant = problem_.gangs[claim_.claimant];
  if (claim_.mode == PreemptionMode::kPreempt)
    return rules_.survey().lowest_running[claimant.queue] >= claimant.priority;
  // Whether gangs may be reclaimed depends on their queue alone.
  return std::ranges::none_of(rules_.survey().runs_in, [&](const auto& runs) {
    if (claim_.mode != PreemptionMode::kReclaim) return true;
    return runs.first != claimant.queue && rules_.may_reclaim(state_, claim_.claimant, runs.second) &&
           rules_.claims_within_share(state_, claim_.claimant, runs.second, {});
  });
}

bool VictimEligibility::is_claimant_new() const {
  return std::ranges::all_of(problem_.gangs[claim_.claimant].pods,
                             [&](PodIndex pod) { return problem_.pods[pod].status != PodStatus::kRunning; });
}

bool VictimEligibility::may_evict(PodIndex pod) const {
  if (problem_.disruption_budgets.is_pinned(pod)) return false;
  if (claim_.exchange) return may_go_in_exchange(pod);
  const GangIndex gang = problem_.pods[pod].gang;
  if (problem_.pods[pod].status != PodStatus::kRunning || gang == claim_.claimant || !rules_.may_evict(gang))
    return false;
  if (!rules_.price().may_claim(claim_.claimant, gang)) return false;
  if (claim_.mode == PreemptionMode::kPreempt) return rules_.may_preempt(claim_.claimant, gang);
  return claim_.mode == PreemptionMode::kReclaim && may_reclaim(gang);
}

bool VictimEligibility::may_evict_at_first(PodIndex pod) {
  const GangIndex gang = problem_.pods[pod].gang;
  if (claim_.exchange || claim_.mode != PreemptionMode::kReclaim) return may_evict(pod);
  if (problem_.pods[pod].status != PodStatus::kRunning || gang == claim_.claimant || !rules_.may_evict(gang))
    return false;
  if (!rules_.price().may_claim(claim_.claimant, gang)) return false;
  if (problem_.disruption_budgets.is_pinned(pod)) return false;
  std::int8_t& known = may_take_from_[problem_.gangs[gang].queue];
  if (known < 0) known = may_evict(pod) ? 1 : 0;
  return known > 0;
}

bool VictimEligibility::may_go_in_exchange(PodIndex pod) const {
  const Pod& p = problem_.pods[pod];
  const Gang& gang = problem_.gangs[p.gang];
  return claim_.mode != PreemptionMode::kSwap && p.status == PodStatus::kRunning && p.gang != claim_.claimant &&
         rules_.may_evict(p.gang) && gang.queue == claim_.exchange->queue &&
         gang.priority == claim_.exchange->priority && p.run_seconds <= claim_.exchange->most_seconds;
}

}  // namespace muster::preemption
