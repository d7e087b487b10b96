#include "model/forecast/queue_room.h"

#include <algorithm>
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

void QueueDemand::add(const Problem& problem, const Gang& gang, const PodClass& pod_class, const QueueAmounts& of_pod) {
  QueueDemand one{of_pod, {}};
  if (!gang.queue.is_none()) {
    for (const OtherLimitIndex limit : problem.queues[gang.queue].other_limits)
      one.limited.push_back(pod_class.request[problem.lists.other_limits[limit].resource.value()]);
  }
  add(one);
}

void QueueDemand::add(const QueueDemand& more) {
  for (std::size_t i = 0; i < kQueueResources; ++i) amounts[i] = saturating_add(amounts[i], more.amounts[i]);
  limited.resize(std::max(limited.size(), more.limited.size()), 0);
  for (std::size_t i = 0; i < more.limited.size(); ++i) limited[i] = saturating_add(limited[i], more.limited[i]);
}

QueueRoom::QueueRoom(const Problem& problem)
    : problem_(problem),
      usage_(problem.queues.size(), QueueAmounts{}),
      non_preemptible_usage_(problem.queues.size(), QueueAmounts{}),
      limited_(problem.lists.other_limits.size(), 0) {
  for (const QueueIndex queue : problem.queues.indices())
    non_preemptible_usage_[queue] = problem.queues[queue].core_usage;
}

std::optional<StartObstacle> QueueRoom::obstacle(const Gang& gang, const QueueDemand& demand) const {
  const QueueAmounts& amounts = demand.amounts;
  const bool within_quota = !gang.preemptible && problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex at : problem_.queues[gang.queue].ancestors) {
    const Queue& queue = problem_.queues[at];
    if (within_quota && exceeds(non_preemptible_usage_[at], amounts, queue.quota)) return StartObstacle::kQuota;
    if (exceeds(usage_[at], amounts, queue.limit)) return StartObstacle::kLimit;
  }
  for (std::size_t i = 0; i < demand.limited.size(); ++i) {
    const OtherLimitIndex limit = problem_.queues[gang.queue].other_limits[i];
    const Amount more = demand.limited[i];
    if (more > 0 && saturating_add(limited_[limit], more) > problem_.lists.other_limits[limit].limit)
      return StartObstacle::kLimit;
  }
  return std::nullopt;
}

void QueueRoom::change(const Gang& gang, const QueueDemand& demand, int sign) {
  if (gang.queue.is_none()) return;
  for (const QueueIndex at : problem_.queues[gang.queue].ancestors) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      usage_[at][i] = saturating_add(usage_[at][i], sign * demand.amounts[i]);
      if (!gang.preemptible)
        non_preemptible_usage_[at][i] = saturating_add(non_preemptible_usage_[at][i], sign * demand.amounts[i]);
    }
  }
  for (std::size_t i = 0; i < demand.limited.size(); ++i) {
    Amount& limited = limited_[problem_.queues[gang.queue].other_limits[i]];
    limited = saturating_add(limited, sign * demand.limited[i]);
  }
}

MicroGpu QueueRoom::quota_left(QueueIndex queue) const {
  return saturating_subtract(problem_.queues[queue].quota[kQueueGpu], non_preemptible_usage_[queue][kQueueGpu]);
}

}  // namespace muster::forecast
