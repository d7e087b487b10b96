#include "io/kubernetes/import/gang_pods.h"

#include <algorithm>

#include "io/kubernetes/grouping/kai.h"

namespace muster::kubernetes {

namespace {

constexpr std::int32_t kKaiNonPreemptible = 100;  // from here on, if a group does not set it

std::string settle_kueue_queue(const KueueQueues& queues, const GangPods& pods, KubernetesGroup& group) {
  const std::string_view name_space = group.identity.namespace_name;
  if (group.held.empty()) group.held = queues.held(name_space, pods.queues.kueue);
  group.priority.never_preempts = group.priority.never_preempts || pods.evicts_nothing;
  return std::string(queues.name_of(name_space, pods.queues.kueue));
}

// What any pod of a gang of Volcano may not lose, none loses. KAI ignores all preemption policies.
void settle_preemption(KubernetesGroup& group, const GangPods& pods, Nanoseconds now, GangSettlement& settled) {
  const bool is_kai = is_of_kai(group.identity.system);
  const bool is_allowed = group.priority.preemptible.value_or(!is_kai || settled.priority < kKaiNonPreemptible);
  settled.preemptible = is_allowed && !pods.has_fixed;
  if (!is_kai) {
    settled.preemptible = settled.preemptible && !pods.forbids_preemption && pods.protected_until <= now &&
                          settled.priority < kSystemPriority;
  }
  if (!group.priority.has_policy && !is_kai) group.priority.never_preempts = pods.count > 0 && pods.never_preempts;
  if (is_kai) static_cast<void>(delay_preemption(group, now));
}

void settle_queue(KubernetesGroup& group, const GangPods& pods, KubernetesQueues& queues, GangSettlement& settled) {
  const bool is_kai = is_of_kai(group.identity.system);
  std::string_view queue = group.queue;
  if (is_kai) {
    for (const std::string_view next : {pods.queues.kai, group.runai_queue, pods.queues.runai}) {
      if (queue.empty()) queue = next;
    }
  }
  if (queue.empty() && is_expected_of_kai(group.identity.system) && queues.is_of_kai(kKaiDefaultQueue))
    queue = kKaiDefaultQueue;
  settled.queue = queue;
  const bool is_kueue = queue.empty() && !is_kai && !pods.queues.kueue.empty();
  if (is_kueue) {
    settled.queue = settle_kueue_queue(queues.kueue(), pods, group);
    group.heed(queues.hold_of_local(group.identity.namespace_name, pods.queues.kueue));
    return;
  }
  if (queue.empty() || (queue == "default" && !queues.has(queue))) settled.queue = queues.common_queue();
  if (group.held.empty()) group.held = queues.held(settled.queue);
  group.heed(queues.hold_of(settled.queue));
}

// Node pools of KAI, groups of nodes of Volcano. Returns why no scheduler places the group; empty: one does.
std::string settle_nodes(const KubernetesGroup& group, const KubernetesQueues& queues, const KaiNodePools& pools,
                         GangSettlement& settled) {
  if (!is_of_kai(group.identity.system)) {
    settled.nodes = queues.nodes_of(settled.queue);
    return {};
  }
  settled.nodes = pools.nodes_of(group.node_pool);
  return pools.objection(group.node_pool, settled.queue);
}

}  // namespace

bool is_expected_of_kai(GroupSystem system) {
  return system == GroupSystem::kKaiOwner || system == GroupSystem::kKaiPod;
}

bool is_of_kai(GroupSystem system) { return system == GroupSystem::kKai || is_expected_of_kai(system); }

void GangPods::add(const KubernetesPod& pod, std::int32_t priority) {
  const GroupLabels& labels = pod.membership.labels;
  const std::string_view since = pod.state.created;
  ++count;
  if (pod.state.status == PodStatus::kSucceeded) ++succeeded;
  if (pod.state.is_on_node() && !pod.membership.dialect.is_placeholder) ++running;
  highest_priority = std::max(highest_priority, priority);
  never_preempts = never_preempts && pod.priority.never_preempts;
  has_fixed = has_fixed || pod.owner.is_fixed;
  has_protected = has_protected || pod.state.is_protected;
  forbids_preemption = forbids_preemption || labels.volcano.forbids_preemption ||
                       !pod.membership.dialect.allows_preemption.value_or(true);
  if (labels.min_available) min_available = std::max(min_available.value_or(0), *labels.min_available);
  expected_duration = std::max(expected_duration, pod.run_time.value());  // none is the least
  if (!since.empty() && (created.empty() || is_earlier(since, created))) created = since;
  if (labels.volcano.cooldown && pod.state.status == PodStatus::kRunning) {
    const auto started = parse_instant(pod.state.started);
    if (started) protected_until = std::max(protected_until, *started + *labels.volcano.cooldown);
  }
  keep_first(labels.kai_queue, queues.kai);
  keep_first(labels.runai_queue, queues.runai);
  keep_first(labels.kueue_queue, queues.kueue);
  dialect.is_koordinator = dialect.is_koordinator || pod.membership.dialect.is_koordinator;
  keep_first(pod.membership.dialect.gang_groups, dialect.gang_groups);
  keep_first(pod.membership.dialect.match_policy, dialect.match_policy);
  keep_first(pod.membership.dialect.task_groups, dialect.task_groups);
  keep_first(pod.membership.dialect.policy_parameters, dialect.policy_parameters);
}

std::string settle_terms(KubernetesGroup& group, const GangPods& pods, const GangSurroundings& around,
                         GangSettlement& settled) {
  settle_preemption(group, pods, around.now, settled);
  settle_queue(group, pods, around.queues, settled);
  if (group.is_protected || pods.has_protected) settled.preemptible = false;
  return settle_nodes(group, around.queues, around.pools, settled);
}

void remark_on_preemption(const KubernetesGroup& group, const GangPods& pods, Nanoseconds now, const std::string& name,
                          KubernetesRemarks& remarks) {
  if (is_of_kai(group.identity.system) && group.priority.never_preempts)
    remarks.add("a gang is within its preemptionDelay: Muster evicts nothing for it yet", name);
  if (pods.protected_until > now)
    remarks.add("a gang is within its volcano.sh/cooldown-time: Muster does not evict its pods yet", name);
  const auto tops = std::ranges::count(group.subgroups, "", &SnapshotSubgroup::parent);
  if (group.disruption == Disruption::kSurplus && group.minimum.subgroups && *group.minimum.subgroups < tops) {
    remarks.add(
        "a semi-preemptible gang needs only some of its subgroups: KAI may evict the others as a whole, Muster evicts "
        "none of its pods",
        name);
  }
}

}  // namespace muster::kubernetes
