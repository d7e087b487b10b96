#include "model/build/turn_bounds.h"

#include <algorithm>
#include <cstddef>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/gang_tree.h"

namespace muster {

TurnBounds::TurnBounds(const Problem& problem) : problem_(problem), sums_(problem.queues.size()) {
  for (const Pod& pod : problem.pods) {
    const Gang& gang = problem.gangs[pod.gang];
    if (pod.status != PodStatus::kRunning || gang.queue.is_none()) continue;
    add(gang.queue, queue_usage(problem.pod_classes[pod.pod_class], problem.class_of(pod.node)), gang.preemptible);
  }
}

void TurnBounds::add(const Gang& gang) {
  MUSTER_REQUIRE(!gang.queue.is_none());
  const auto least = [&](const auto& of_class) {
    return least_sum(problem_, gang, [&](PodIndex pod) { return of_class(problem_.class_of(pod)); });
  };
  QueueAmounts amounts{};
  amounts[kQueueGpu] = least([](const PodClass& pod_class) { return pod_class.smallest_gpu_usage; });
  amounts[kQueueCpu] = least([](const PodClass& pod_class) { return pod_class.request[kCpu.value()]; });
  amounts[kQueueMemory] = least([](const PodClass& pod_class) { return pod_class.request[kMemory.value()]; });
  add(gang.queue, amounts, false);
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
  return std::ranges::all_of(problem_.queues[queue].ancestors, [&](QueueIndex at) {
    const Queue& bounds = problem_.queues[at];
    return std::ranges::equal(sums_[at].all, bounds.limit, is_within) &&
           std::ranges::equal(sums_[at].non_preemptible, bounds.quota, is_within);
  });
}

}  // namespace muster
