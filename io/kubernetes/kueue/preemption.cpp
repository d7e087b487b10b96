#include "io/kubernetes/kueue/preemption.h"

#include <algorithm>
#include <string>

#include "io/kubernetes/grouping/priorities.h"

namespace muster::kubernetes {

void KueuePreemption::add_running(const KubernetesPod& pod, std::int32_t priority) {
  const KueueQueue* queue = queues_.find(pod.namespace_name, pod.membership.labels.kueue_queue);
  if (queue == nullptr) return;
  Usage& usage = usages_[queue];
  for (const RequestedAmount& one : pod.requests) {
    std::int64_t& sum = usage.amounts[one.resource];
    sum = capped_sum(sum, std::max<std::int64_t>(0, whole_units(one)));
  }
  if (pod.gpus.request.kind != GpuRequestKind::kNone) usage.amounts["nvidia.com/gpu"] += pod.gpus.request.devices;
  ++usage.amounts["pods"];
  const bool may_go = pod.membership.dialect.allows_preemption.value_or(true);
  if (priority < kSystemPriority && !pod.owner.is_fixed && may_go) ++usage.by_priority[priority];
}

// Whether it uses more of anything than its own quota.
bool KueuePreemption::may_borrow(const KueueQueue& queue, const Usage& usage) const {
  return std::ranges::any_of(usage.amounts, [&](const auto& used) {
    return queue.quotas.covers(used.first) && used.second > queue.quotas.nominal(used.first);
  });
}

bool KueuePreemption::decide(const KueueQueue& queue, std::int32_t priority) const {
  const KueuePolicy& policy = *queue.policy;
  if (policy.evicts_nothing()) return true;
  const auto own = usages_.find(&queue);
  const bool has_lower =
      own != usages_.end() && !own->second.by_priority.empty() && own->second.by_priority.begin()->first < priority;
  if (policy.within_queue == "Never" && has_lower) return true;
  if (policy.reclaim == "Any") return false;
  for (const auto& [other, usage] : usages_) {
    if (other == &queue || usage.by_priority.empty() || !may_borrow(*other, usage)) continue;
    if (queues_.tree().root(other->node) != queues_.tree().root(queue.node)) continue;
    if (policy.reclaim != "LowerPriority" || usage.by_priority.rbegin()->first >= priority) return true;
  }
  return false;
}

bool KueuePreemption::forbids(const KubernetesPod& pod, std::int32_t priority, KubernetesRemarks& remarks) {
  const KueueQueue* queue = queues_.find(pod.namespace_name, pod.membership.labels.kueue_queue);
  if (queue == nullptr || !queue->policy) return false;
  const auto [known, is_new] = decided_.try_emplace({queue, priority}, false);
  if (is_new) known->second = decide(*queue, priority);
  if (known->second && is_new && !queue->policy->evicts_nothing()) {
    remarks.add("Muster evicts nothing for gangs whose ClusterQueue allows only a part of it (withinClusterQueue: " +
                    std::string(queue->policy->within_queue) + ", reclaimWithinCohort: " +
                    std::string(queue->policy->reclaim) + "): they may wait although Kueue would evict",
                "ClusterQueue " + queue->name);
  }
  return known->second;
}

}  // namespace muster::kubernetes
