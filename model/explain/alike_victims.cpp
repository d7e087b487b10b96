#include "model/explain/alike_victims.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "model/base/saturating.h"

namespace muster::explain {

namespace {

// Victims of one gang: each pod, and whether it is surplus; and how long the others have run, at least.
struct GangVictims {
  std::vector<std::pair<PodIndex, bool>> pods;
  Nanoseconds core_run_time = std::numeric_limits<Nanoseconds>::max();
};

GangVictims victims_of(const Problem& problem, const AfterPlan& end, const Gang& gang) {
  GangVictims victims;
  const auto stays = [&](PodIndex pod) {
    return problem.pods[pod].status == PodStatus::kRunning && end.is_present(pod);
  };
  for (const GroupIndex index : gang.groups) {
    const Group& group = problem.groups[index];
    std::int64_t counted = 0;
    for (const PodIndex pod : group.pods) {
      if (problem.pods[pod].status == PodStatus::kSucceeded) ++counted;
    }
    for (const PodIndex pod : group.pods) {
      if (!stays(pod)) continue;
      const bool is_surplus = counted++ >= group.minimum;
      victims.pods.emplace_back(pod, is_surplus);
      if (!is_surplus) victims.core_run_time = std::min(victims.core_run_time, problem.pods[pod].run_time);
    }
  }
  return victims;
}

// Of the pods that are no surplus.
VictimKind kind_of(const Problem& problem, const Gang& gang, Nanoseconds core_run_time) {
  const Queue& queue = problem.queues[gang.queue];
  VictimKind kind{gang.queue, gang.priority, core_run_time < queue.preempt_min_runtime, 0, false};
  for (std::size_t i = 0; i < std::min<std::size_t>(queue.ancestors.size(), 32); ++i) {
    const bool is_protected =
        !queue.reclaimable || core_run_time < problem.queues[queue.ancestors[i]].reclaim_min_runtime;
    kind.reclaim_protected |= std::uint32_t{is_protected} << i;
  }
  return kind;
}

AlikeVictims group_of(const Problem& problem, const AfterPlan& end, const VictimKind& kind,
                      std::vector<PodIndex> pods) {
  AlikeVictims victims{kind, std::move(pods), {}, std::vector<Amount>(problem.resource_count, 0)};
  for (const PodIndex pod : victims.pods) {
    const PodClass& pod_class = problem.class_of(pod);
    const QueueAmounts usage = queue_usage(pod_class, problem.class_of(end.node[pod]));
    for (std::size_t i = 0; i < kQueueResources; ++i) victims.usage[i] = saturating_add(victims.usage[i], usage[i]);
    for (std::size_t r = 0; r < problem.resource_count; ++r) {
      victims.amounts[r] = saturating_add(victims.amounts[r], pod_class.request[r]);
    }
  }
  return victims;
}

}  // namespace

std::vector<AlikeVictims> alike_victims(const Problem& problem, const AfterPlan& end) {
  std::map<VictimKind, std::vector<PodIndex>> by_kind;
  const Indexed<PodIndex, bool> held = held_by_budgets(problem, end);
  for (const Gang& gang : problem.gangs) {
    if (!gang.preemptible || gang.queue.is_none()) continue;
    const GangVictims victims = victims_of(problem, end, gang);
    const VictimKind kind = kind_of(problem, gang, victims.core_run_time);
    VictimKind surplus_kind{gang.queue, gang.priority, false, 0, false};
    if (!problem.queues[gang.queue].reclaimable) surplus_kind.reclaim_protected = kind.reclaim_protected;
    for (const auto& [pod, is_surplus] : victims.pods) {
      VictimKind own = is_surplus ? surplus_kind : kind;
      own.held = held[pod];
      by_kind[own].push_back(pod);
    }
  }
  std::vector<AlikeVictims> groups;
  for (auto& [kind, pods] : by_kind) groups.push_back(group_of(problem, end, kind, std::move(pods)));
  return groups;
}

QueueAmounts least_usage(const Problem& problem, const GangNeed& need) {
  QueueAmounts sum{};
  for (const NeedItem& item : need.items) {
    const PodClass& pod_class = problem.pod_classes[item.pod_class];
    QueueAmounts least{pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()],
                       pod_class.request[kMemory.value()]};
    if (pod_class.gpu.kind == GpuRequestKind::kMemory) {
      for (const NodeClassIndex index : problem.node_classes.indices()) {
        const NodeClass& node_class = problem.node_classes[index];
        if (!pod_class.allowed[index.value()] || node_class.device_memory_mib < pod_class.gpu.share) continue;
        least[kQueueGpu] = std::min(least[kQueueGpu], queue_usage(pod_class, node_class)[kQueueGpu]);
      }
    }
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      sum[i] = saturating_add(sum[i], saturating_multiply(least[i], std::ssize(item.pods)));
    }
  }
  return sum;
}

EvictionGrounds::EvictionGrounds(const Problem& problem, const FairShares& shares, const AfterPlan& end)
    : problem_(problem), shares_(shares), end_(end) {
  quota_.resize(problem_.queues.size());
  for (const QueueIndex queue : problem_.queues.indices()) {
    quota_[queue] = problem_.queues[queue].quota;
    for (Amount& amount : quota_[queue]) {
      if (amount == kUnlimited) amount = kLargest;
    }
  }
}

bool EvictionGrounds::may_go(const VictimKind& victim, const Claim& claim, EvictionRuleSet rules) const {
  const Gang& claimant = problem_.gangs[claim.gang];
  if (rules.budgets && victim.held) return false;
  if (victim.queue != claimant.queue) return may_be_reclaimed(victim, claim, rules);
  if (rules.priority && victim.priority >= claimant.priority) return false;
  if (rules.protection && victim.preempt_protected) return false;
  return !rules.actions || problem_.snapshot->policy.actions.preempt;
}

bool EvictionGrounds::may_be_reclaimed(const VictimKind& victim, const Claim& claim, EvictionRuleSet rules) const {
  const QueueIndex claimant = problem_.gangs[claim.gang].queue;
  const std::vector<QueueIndex>& above = problem_.queues[claimant].ancestors;
  const bool is_above = std::ranges::find(above, victim.queue) != above.end();
  if (rules.share && is_above) return false;  // there are no two sides
  const auto [victim_at, own_at] = sides(victim.queue, claimant);
  const QueueIndex victim_side = problem_.queues[victim.queue].ancestors[victim_at];
  const QueueIndex own_side = problem_.queues[claimant].ancestors[own_at];
  if (rules.share && (!stays_within_share(claim, own_side) || !is_ground(victim_side, own_side, claim.demand)))
    return false;
  if (rules.protection && victim_at < 32 && ((victim.reclaim_protected >> victim_at) & 1U) != 0) return false;
  return !rules.actions || problem_.snapshot->policy.actions.reclaim;
}

// The victim's side was over its share, or over its quota while the claimant's stays within its own.
bool EvictionGrounds::is_ground(QueueIndex victim_side, QueueIndex own_side, const QueueAmounts& demand) const {
  bool over_share = false, over_quota = false, own_within_quota = true;
  for (std::size_t i = 0; i < kQueueResources; ++i) {
    if (demand[i] == 0) continue;
    over_share = over_share || end_.usage_before[victim_side][i] > shares_.share[victim_side][i];
    over_quota = over_quota || end_.usage_before[victim_side][i] > quota_[victim_side][i];
    own_within_quota = own_within_quota && saturating_add(end_.usage[own_side][i], demand[i]) <= quota_[own_side][i];
  }
  return over_share || (over_quota && own_within_quota);
}

bool EvictionGrounds::stays_within_share(const Claim& claim, QueueIndex up_to) const {
  const Gang& gang = problem_.gangs[claim.gang];
  // Under the policy nonPreemptibleWithinQuota the quota is a bound by itself, whatever may be reclaimed.
  const bool keeps_quota = !gang.preemptible && !problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
    const QueueAmounts &share = shares_.share[queue], &non_preemptible = end_.non_preemptible_usage[queue];
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      const Amount demand = claim.demand[i];
      if (demand == 0) continue;
      if (saturating_add(end_.usage[queue][i], demand) > share[i]) return false;
      if (keeps_quota && saturating_add(non_preemptible[i], demand) > quota_[queue][i]) return false;
    }
    if (queue == up_to) break;
  }
  return true;
}

std::pair<std::size_t, std::size_t> EvictionGrounds::sides(QueueIndex victim, QueueIndex claimant) const {
  const std::vector<QueueIndex>& theirs = problem_.queues[victim].ancestors;
  const std::vector<QueueIndex>& ours = problem_.queues[claimant].ancestors;
  std::size_t at = theirs.size(), own = ours.size();
  while (at > 1 && own > 1 && theirs[at - 1] == ours[own - 1]) {
    --at;
    --own;
  }
  return {at - 1, own - 1};
}

namespace {

using Left = Indexed<DisruptionBudgetIndex, std::int64_t>;

bool is_home(const Problem& problem, const AfterPlan& end, PodIndex pod) {
  return problem.pods[pod].status == PodStatus::kRunning && end.node[pod] == problem.pods[pod].node &&
         std::ranges::equal(end.devices[pod], problem.devices_of(pod));
}

Left left_after(const Problem& problem, const AfterPlan& end) {
  const DisruptionBudgets& budgets = problem.disruption_budgets;
  Left left;
  for (const DisruptionBudget& budget : budgets.all()) left.push_back(budget.allowed);
  for (const PodIndex pod : problem.pods.indices()) {
    if (budgets.of(pod).empty() || is_home(problem, end, pod)) continue;
    for (const DisruptionBudgetIndex budget : budgets.of(pod)) --left[budget];
  }
  return left;
}

// What leaves of the gang if its minimum does: all its running pods.
bool may_go_whole(const Problem& problem, const Gang& gang, const Left& left) {
  std::vector<PodIndex> running;
  for (const PodIndex pod : gang.pods) {
    if (problem.pods[pod].status == PodStatus::kRunning) running.push_back(pod);
  }
  return problem.disruption_budgets.allow(running, left);
}

}  // namespace

Indexed<PodIndex, bool> held_by_budgets(const Problem& problem, const AfterPlan& end) {
  const DisruptionBudgets& budgets = problem.disruption_budgets;
  Indexed<PodIndex, bool> held(problem.pods.size(), false);
  if (budgets.empty()) return held;
  Left left = left_after(problem, end);
  std::vector<PodIndex> limited;
  std::map<NodeIndex, std::int64_t> on_node;  // limited pods
  for (const PodIndex pod : problem.pods.indices()) {
    if (budgets.of(pod).empty() || !is_home(problem, end, pod)) continue;
    const Gang& gang = problem.gangs[problem.pods[pod].gang];
    const bool is_core = std::ssize(gang.pods) <= problem.groups[gang.root].minimum;
    held[pod] = budgets.is_pinned(pod) || (is_core && !may_go_whole(problem, gang, left));
    if (held[pod]) continue;
    limited.push_back(pod);
    ++on_node[end.node[pod]];
  }
  std::ranges::stable_sort(limited, {}, [&](PodIndex pod) {
    return std::tuple(problem.gangs[problem.pods[pod].gang].priority, on_node[end.node[pod]], end.node[pod],
                      -problem.class_of(pod).work);
  });
  for (const PodIndex pod : limited) {
    held[pod] = !budgets.allow({&pod, 1}, left);
    if (held[pod]) continue;
    for (const DisruptionBudgetIndex budget : budgets.of(pod)) --left[budget];
  }
  return held;
}

}  // namespace muster::explain
