#include "datasets/simulation/queue_usage.h"

#include "model/base/require.h"
#include "model/base/saturating.h"

namespace muster::simulation {

QueueUsage::QueueUsage(Nanoseconds half_life, const std::vector<SnapshotQueue>& queues) : history_(half_life) {
  MUSTER_REQUIRE(half_life > 0);
  for (const SnapshotQueue& queue : queues) {
    const auto amount = [](const QueueResource& resource) { return static_cast<Amount>(resource.usage.value_or(0)); };
    history_.set_average(queue.name, {amount(queue.gpu), amount(queue.cpu), amount(queue.memory)});
  }
}

void QueueUsage::note_plan(const Problem& problem, const Plan& plan) {
  of_pod_.assign(problem.pods.size(), {});
  const auto runs_on = [&](PodIndex pod, NodeIndex node) {
    of_pod_[pod.value()] = queue_usage(problem.class_of(pod), problem.class_of(node));
  };
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status == PodStatus::kRunning) runs_on(pod, problem.pods[pod].node);
  }
  for (const Placement& placement : plan.placements) runs_on(placement.pod, placement.node);
}

void QueueUsage::pass_time(const Problem& problem, const JobTable& jobs, Nanoseconds now) {
  MUSTER_REQUIRE(of_pod_.size() == problem.pods.size() && jobs.job_of_pods().size() >= of_pod_.size());
  Indexed<QueueIndex, QueueAmounts> in_use(problem.queues.size());
  for (const PodIndex pod : problem.pods.indices()) {
    const QueueIndex queue = problem.gangs[problem.pods[pod].gang].queue;
    if (queue.is_none() || !jobs.runs(pod.value())) continue;
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      in_use[queue][i] = saturating_add(in_use[queue][i], of_pod_[pod.value()][i]);
    }
  }
  history_.set_in_use(problem.queues, in_use);
  history_.advance(now);
}

}  // namespace muster::simulation
