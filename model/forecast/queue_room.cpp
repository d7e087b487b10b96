#include "model/forecast/queue_room.h"

#include <cstddef>

#include "model/base/saturating.h"

namespace muster::forecast {
namespace {

bool exceeds(const QueueAmounts& used, const QueueAmounts& more, const QueueAmounts& most) {
  for (std::size_t i = 0; i < kQueueResources; ++i) {
    if (more[i] > 0 && most[i] != kUnlimited && saturating_add(used[i], more[i]) > most[i]) return true;
  }
  return false;
}

}  // namespace

QueueRoom::QueueRoom(const Problem& problem)
    : problem_(problem),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}) {}

std::optional<StartObstacle> QueueRoom::obstacle(const Gang& gang, const QueueAmounts& amounts) const {
  const bool within_quota = !gang.preemptible && problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex at : problem_.queues[gang.queue].ancestors) {
    const Queue& queue = problem_.queues[at];
    if (within_quota && exceeds(non_preemptible_usage_[at], amounts, queue.quota)) return StartObstacle::kQuota;
    if (exceeds(usage_[at], amounts, queue.limit)) return StartObstacle::kLimit;
  }
  return std::nullopt;
}

void QueueRoom::change(const Gang& gang, const QueueAmounts& amounts, int sign) {
  if (gang.queue.is_none()) return;
  for (const QueueIndex at : problem_.queues[gang.queue].ancestors) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      usage_[at][i] = saturating_add(usage_[at][i], sign * amounts[i]);
      if (!gang.preemptible)
        non_preemptible_usage_[at][i] = saturating_add(non_preemptible_usage_[at][i], sign * amounts[i]);
    }
  }
}

MicroGpu QueueRoom::quota_left(QueueIndex queue) const {
  return saturating_subtract(problem_.queues[queue].quota[kQueueGpu], non_preemptible_usage_[queue][kQueueGpu]);
}

}  // namespace muster::forecast
