#include "heuristics/preemption/victims/least_losses.h"

#include <algorithm>
#include <optional>

namespace muster::preemption {

void LeastLosses::find() {
  losses_.clear();
  if (claim_.exchange) {
    losses_.emplace_back(claim_.exchange->queue, claim_.exchange->priority);
    return;
  }
  const Gang& claimant = problem_.gangs[claim_.claimant];
  const auto may_go = [&](QueueIndex queue, GangIndex gang) {
    if (claim_.mode == PreemptionMode::kPreempt)
      return queue == claimant.queue && rules_.survey().lowest_running[queue] < claimant.priority;
    return eligibility_.may_reclaim(gang);
  };
  for (const auto& [queue, gang] : rules_.survey().runs_in) {
    if (!may_go(queue, gang)) continue;
    std::optional<std::int32_t> lowest;
    QueueAmounts above{};
    for (const std::int32_t priority : problem_.objective.priorities) {
      const QueueAmounts from = state_.queues().usage_from(queue, priority);
      if (from != above && priority >= rules_.survey().lowest_running[queue]) lowest = priority;
      above = from;
    }
    if (lowest) losses_.emplace_back(queue, *lowest);
  }
}

bool LeastLosses::contains(QueueIndex queue, std::int32_t priority) const {
  return std::ranges::find(losses_, std::pair(queue, priority)) != losses_.end();
}

}  // namespace muster::preemption
