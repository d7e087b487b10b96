#include "model/reasons_make_room.h"

#include <algorithm>
#include <limits>

#include "model/saturating.h"

namespace muster {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

bool has_anti_affinity(const Problem& problem, const GangNeed& need) {
  return std::ranges::any_of(need.items, [&](const NeedItem& item) {
    const PodClass& pod_class = problem.pod_classes[item.pod_class];
    return !pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty();
  });
}

}  // namespace

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

RoomMaker::RoomMaker(const Problem& problem, const FairShares& shares, const AfterPlan& end, bool proven)
    : problem_(problem), shares_(shares), end_(end), proven_(proven) {
  quota_.resize(problem.queues.size());
  for (const QueueIndex queue : problem.queues.indices()) {
    quota_[queue] = problem.queues[queue].quota;
    for (Amount& amount : quota_[queue]) {
      if (amount == kUnlimited) amount = kLargest;
    }
  }
  collect_victims();
}

void RoomMaker::collect_victims() {
  for (const Gang& gang : problem_.gangs) {
    if (!gang.preemptible || gang.queue.is_none()) continue;
    const auto stays = [&](PodIndex pod) {
      return problem_.pods[pod].status == PodStatus::kRunning && end_.is_present(pod);
    };
    Nanoseconds core_run_time = std::numeric_limits<Nanoseconds>::max();
    std::vector<std::pair<PodIndex, bool>> pods;  // and whether it is surplus
    for (const GroupIndex index : gang.groups) {
      const Group& group = problem_.groups[index];
      std::int64_t counted = 0;
      for (const PodIndex pod : group.pods) {
        if (problem_.pods[pod].status == PodStatus::kSucceeded) ++counted;
      }
      for (const PodIndex pod : group.pods) {
        if (!stays(pod)) continue;
        const bool is_surplus = counted++ >= group.minimum;
        pods.emplace_back(pod, is_surplus);
        if (!is_surplus) core_run_time = std::min(core_run_time, problem_.pods[pod].run_time);
      }
    }
    const Queue& queue = problem_.queues[gang.queue];
    VictimKind kind{gang.queue, gang.priority, core_run_time < queue.preempt_min_runtime, 0};
    for (std::size_t i = 0; i < std::min<std::size_t>(queue.ancestors.size(), 32); ++i) {
      const bool is_protected = core_run_time < problem_.queues[queue.ancestors[i]].reclaim_min_runtime;
      kind.reclaim_protected |= std::uint32_t{is_protected} << i;
    }
    const VictimKind surplus_kind{gang.queue, gang.priority, false, 0};
    for (const auto& [pod, is_surplus] : pods) victims_[is_surplus ? surplus_kind : kind].push_back(pod);
  }
}

std::string RoomMaker::tell(GangIndex gang, const GangNeed& need, bool fits_already) {
  const Actions& actions = problem_.snapshot->policy.actions;
  if (!actions.place || (!actions.preempt && !actions.reclaim && !actions.consolidate)) return "NotAllowed";
  if (problem_.gangs[gang].preemption_policy == PreemptionPolicy::kNever) return "Policy";
  if (fits_already) return "OutOfTime";
  demand_ = least_usage(problem_, need);
  struct Stage {
    Rules rules;
    const char* code;
  };
  const Stage stages[] = {{{false, false, false, false}, "NotEnough"},
                          {{true, false, false, false}, "FairShare"},
                          {{true, true, false, false}, "Priority"},
                          {{true, true, true, false}, "Protected"},
                          {{true, true, true, true}, "NotAllowed"}};
  for (const Stage& stage : stages) {
    const Fits fits = fits_without(gang, need, stage.rules);
    if (fits == Fits::kUnknown) return "";
    if (fits == Fits::kNo) return stage.code;
  }
  return proven_ ? "Outranked" : "OutOfTime";
}

Fits RoomMaker::fits_without(GangIndex gang, const GangNeed& need, Rules rules) {
  std::vector<std::uint32_t> kinds;
  std::uint32_t position = 0;
  for (const auto& [kind, pods] : victims_) {
    if (may_go(kind, gang, rules)) kinds.push_back(position);
    ++position;
  }
  if (kinds.empty()) return Fits::kNo;
  const Gang& claimant = problem_.gangs[gang];
  const bool runs = std::ranges::any_of(claimant.pods, [&](PodIndex pod) { return end_.is_present(pod); });
  Vacated* vacated = vacate(kinds, runs && claimant.preemptible ? gang : GangIndex::none());
  if (vacated == nullptr) return Fits::kUnknown;
  return queues_allow(gang, *vacated) && fits_in(gang, need, *vacated) ? Fits::kYes : Fits::kNo;
}

bool RoomMaker::may_go(const VictimKind& victim, GangIndex gang, Rules rules) const {
  const Gang& claimant = problem_.gangs[gang];
  if (victim.queue != claimant.queue) return may_be_reclaimed(victim, gang, rules);
  if (rules.priority && victim.priority >= claimant.priority) return false;
  if (rules.protection && victim.preempt_protected) return false;
  return !rules.actions || problem_.snapshot->policy.actions.preempt;
}

bool RoomMaker::may_be_reclaimed(const VictimKind& victim, GangIndex gang, Rules rules) const {
  const QueueIndex claimant = problem_.gangs[gang].queue;
  const auto [victim_at, own_at] = sides(victim.queue, claimant);
  const QueueIndex victim_side = problem_.queues[victim.queue].ancestors[victim_at];
  const QueueIndex own_side = problem_.queues[claimant].ancestors[own_at];
  if (rules.share && (!stays_within(gang, own_side, shares_.share) || !is_ground(victim_side, own_side))) return false;
  if (rules.protection && victim_at < 32 && ((victim.reclaim_protected >> victim_at) & 1U) != 0) return false;
  return !rules.actions || problem_.snapshot->policy.actions.reclaim;
}

// The victim's side was over its share, or over its quota while the claimant's stays within its own.
bool RoomMaker::is_ground(QueueIndex victim_side, QueueIndex own_side) const {
  bool over_share = false, over_quota = false, own_within_quota = true;
  for (std::size_t i = 0; i < kQueueResources; ++i) {
    if (demand_[i] == 0) continue;
    over_share = over_share || end_.usage_before[victim_side][i] > shares_.share[victim_side][i];
    over_quota = over_quota || end_.usage_before[victim_side][i] > quota_[victim_side][i];
    own_within_quota = own_within_quota && saturating_add(end_.usage[own_side][i], demand_[i]) <= quota_[own_side][i];
  }
  return over_share || (over_quota && own_within_quota);
}

// From the gang's queue up to `up_to`, what it asks for stays within the bound.
bool RoomMaker::stays_within(GangIndex gang, QueueIndex up_to, const Indexed<QueueIndex, QueueAmounts>& bound) const {
  for (const QueueIndex queue : problem_.queues[problem_.gangs[gang].queue].ancestors) {
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (demand_[i] > 0 && saturating_add(end_.usage[queue][i], demand_[i]) > bound[queue][i]) return false;
    }
    if (queue == up_to) break;
  }
  return true;
}

std::pair<std::size_t, std::size_t> RoomMaker::sides(QueueIndex victim, QueueIndex claimant) const {
  const std::vector<QueueIndex>& theirs = problem_.queues[victim].ancestors;
  const std::vector<QueueIndex>& ours = problem_.queues[claimant].ancestors;
  std::size_t at = theirs.size(), own = ours.size();
  while (at > 1 && own > 1 && theirs[at - 1] == ours[own - 1]) {
    --at;
    --own;
  }
  return {at - 1, own - 1};
}

RoomMaker::Vacated* RoomMaker::vacate(const std::vector<std::uint32_t>& kinds, GangIndex spared) {
  std::vector<std::uint32_t> key = kinds;
  key.push_back(spared.is_none() ? kNobody : spared.value());
  if (const auto at = rooms_.find(key); at != rooms_.end()) return at->second.get();
  if (rooms_.size() >= kMostRooms) return nullptr;
  auto vacated = std::make_unique<Vacated>(Vacated{RemainingRoom::after(problem_, end_), {}, {}});
  std::uint32_t position = 0;
  auto wanted = kinds.begin();
  for (const auto& [kind, pods] : victims_) {
    if (wanted == kinds.end()) break;
    if (*wanted != position++) continue;
    ++wanted;
    for (const PodIndex pod : pods) {
      if (problem_.pods[pod].gang == spared) continue;
      vacated->room.take(pod, end_.node[pod], end_.devices[pod]);
      const QueueAmounts usage = queue_usage(problem_.class_of(pod), problem_.class_of(end_.node[pod]));
      for (const QueueIndex queue : problem_.queues[kind.queue].ancestors) {
        QueueAmounts& freed = vacated->freed_usage[queue];
        for (std::size_t i = 0; i < kQueueResources; ++i) freed[i] += usage[i];
      }
    }
  }
  return (rooms_[key] = std::move(vacated)).get();
}

bool RoomMaker::queues_allow(GangIndex gang, const Vacated& vacated) const {
  const Gang& claimant = problem_.gangs[gang];
  const bool within_quota = !claimant.preemptible && problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex index : problem_.queues[claimant.queue].ancestors) {
    const Queue& queue = problem_.queues[index];
    const auto freed = vacated.freed_usage.find(index);
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (demand_[i] == 0) continue;
      const Amount gone = freed == vacated.freed_usage.end() ? 0 : freed->second[i];
      if (queue.limit[i] != kUnlimited && saturating_add(end_.usage[index][i] - gone, demand_[i]) > queue.limit[i])
        return false;
      if (within_quota && saturating_add(end_.non_preemptible_usage[index][i], demand_[i]) > quota_[index][i])
        return false;
    }
  }
  return true;
}

bool RoomMaker::fits_in(GangIndex gang, const GangNeed& need, Vacated& vacated) {
  if (need.items.size() == 1 && !requires_level(problem_, problem_.gangs[gang]) && !has_anti_affinity(problem_, need)) {
    const PodClassIndex index = need.items.front().pod_class;
    const auto [at, is_new] = vacated.counts.try_emplace(index, 0);
    if (is_new) {
      const PodClass& pod_class = problem_.pod_classes[index];
      for (const NodeIndex node : problem_.nodes.indices()) {
        if (!pod_class.allowed[problem_.nodes[node].node_class.value()]) continue;
        at->second = saturating_add(at->second, vacated.room.count(pod_class, node, kLargest));
      }
    }
    return at->second >= need.pods;
  }
  if (visits_ > kMostVisits) return true;
  const std::size_t mark = vacated.room.mark();
  Packer packer(problem_, &end_, vacated.room, PackingRules{});
  const Packing packing = packer.pack(need, problem_.gangs[gang].root);
  vacated.room.roll_back(mark);
  visits_ += packer.visits();
  return packing.left == 0;
}

}  // namespace muster
