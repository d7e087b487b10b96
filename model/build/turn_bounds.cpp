#include "model/build/turn_bounds.h"

#include <algorithm>
#include <cstddef>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/gang_tree.h"

namespace muster {

TurnBounds::TurnBounds(const Problem& problem)
    : problem_(problem), sums_(problem.queues.size()), limited_(problem.lists.other_limits.size(), 0) {
  for (const QueueIndex queue : problem.queues.indices())
    sums_[queue].non_preemptible = problem.queues[queue].core_usage;
  for (const Pod& pod : problem.pods) {
    const Gang& gang = problem.gangs[pod.gang];
    if (pod.status != PodStatus::kRunning || gang.queue.is_none()) continue;
    const PodClass& pod_class = problem.pod_classes[pod.pod_class];
    add(gang.queue, queue_usage(pod_class, problem.class_of(pod.node)), gang.preemptible);
    add_limited(gang.queue, [&](ResourceIndex resource) { return pod_class.request[resource.value()]; });
  }
}

void TurnBounds::add(const Gang& gang) {
  MUSTER_REQUIRE(!gang.queue.is_none());
  const auto least = [&](const auto& of_class) {
    return least_sum(problem_, gang, [&](PodIndex pod) { return of_class(problem_.class_of(pod)); });
  };
  const auto least_of = [&](ResourceIndex resource) {
    return least([resource](const PodClass& pod_class) { return pod_class.request[resource.value()]; });
  };
  QueueAmounts amounts{};
  amounts[kQueueGpu] = least([](const PodClass& pod_class) { return pod_class.smallest_gpu_usage; });
  amounts[kQueueCpu] = least_of(kCpu);
  amounts[kQueueMemory] = least_of(kMemory);
  add(gang.queue, amounts, false);
  add_limited(gang.queue, least_of);
}

template <class AmountOf>
void TurnBounds::add_limited(QueueIndex queue, const AmountOf& amount_of) {
  for (const OtherLimitIndex limit : problem_.queues[queue].other_limits)
    limited_[limit] = saturating_add(limited_[limit], amount_of(problem_.lists.other_limits[limit].resource));
}

void TurnBounds::add(QueueIndex queue, const QueueAmounts& amounts, bool preemptible) {
  for (const QueueIndex at : problem_.queues[queue].ancestors) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      Amount& all = sums_[at].all[i];
      all = saturating_add(all, amounts[i]);
      Amount& strict = sums_[at].non_preemptible[i];
      if (!preemptible) strict = saturating_add(strict, amounts[i]);
    }
  }
}

bool TurnBounds::hold(QueueIndex queue) const {
  const auto is_within = [](Amount sum, Amount bound) { return bound == kUnlimited || sum <= bound; };
  const auto is_kept = [&](OtherLimitIndex limit) {
    return limited_[limit] <= problem_.lists.other_limits[limit].limit;
  };
  if (!std::ranges::all_of(problem_.queues[queue].other_limits, is_kept)) return false;
  return std::ranges::all_of(problem_.queues[queue].ancestors, [&](QueueIndex at) {
    const Queue& bounds = problem_.queues[at];
    return std::ranges::equal(sums_[at].all, bounds.limit, is_within) &&
           std::ranges::equal(sums_[at].non_preemptible, bounds.quota, is_within);
  });
}

}  // namespace muster
