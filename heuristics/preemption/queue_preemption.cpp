#include "heuristics/preemption/queue_preemption.h"

#include "heuristics/state/fit.h"

namespace muster::preemption {

bool QueuePreemption::free_queue() {
  const Gang& gang = problem_.gangs[claim_.claimant];
  while (!fit::limit(state_, bounds_, gang, claim_.added)) {
    const auto unit = finder_.cheapest_below(full_queue());
    if (!unit) return false;
    ledger_.take(unit->pods);
  }
  return fit::quota(state_, bounds_, gang, claim_.added);
}

// The first queue above the claimant that has no room for what the claim adds; none: all have.
QueueIndex QueuePreemption::full_queue() const {
  for (const QueueIndex queue : problem_.queues[problem_.gangs[claim_.claimant].queue].ancestors) {
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount bound = bounds_.usage[queue][r], added = claim_.added[r];
      if (added > 0 && bound != kNoBound && state_.queues().usage()[queue][r] + added > bound) return queue;
    }
  }
  return QueueIndex::none();
}

bool QueuePreemption::free_min_resources() {
  claim_.added = {};
  while (!check_.min_resources_hold(claim_.claimant)) {
    const auto unit = finder_.cheapest_below(QueueIndex::none());
    if (!unit) return false;
    ledger_.take(unit->pods);
  }
  return true;
}

}  // namespace muster::preemption
