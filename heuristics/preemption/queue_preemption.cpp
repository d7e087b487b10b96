#include "heuristics/preemption/queue_preemption.h"

#include "heuristics/state/fit.h"

namespace muster::preemption {

bool QueuePreemption::free_queue(const PodClass& pod_class) {
  const Gang& gang = problem_.gangs[claim_.claimant];
  for (FullQueue full = full_queue(pod_class); !full.queue.is_none(); full = full_queue(pod_class)) {
    const auto unit = finder_.cheapest_below(full.queue, full.resource);
    if (!unit) return false;
    ledger_.take(unit->pods);
  }
  return fit::quota(state_, bounds_, gang, claim_.added);
}

// The first queue above the claimant that has no room for what the claim adds; none: all have.
QueuePreemption::FullQueue QueuePreemption::full_queue(const PodClass& pod_class) const {
  const Gang& gang = problem_.gangs[claim_.claimant];
  for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount bound = bounds_.usage[queue][r], added = claim_.added[r];
      if (added > 0 && bound != kNoBound && state_.queues().usage()[queue][r] + added > bound) return {queue, {}};
    }
  }
  const OtherLimitIndex limit = fit::exceeded_limit(state_, bounds_, gang, pod_class);
  if (limit.is_none()) return {};
  const OtherLimit& exceeded = problem_.lists.other_limits[limit];
  return {exceeded.queue, exceeded.resource};
}

bool QueuePreemption::free_min_resources() {
  claim_.added = {};
  while (!check_.min_resources_hold(claim_.claimant)) {
    const auto unit = finder_.cheapest_below(QueueIndex::none(), ResourceIndex::none());
    if (!unit) return false;
    ledger_.take(unit->pods);
  }
  return true;
}

}  // namespace muster::preemption
