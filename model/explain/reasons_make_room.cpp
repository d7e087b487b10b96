#include "model/explain/reasons_make_room.h"

#include <algorithm>
#include <limits>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/explain/reasons_budgets.h"
#include "model/explain/reasons_plain.h"

namespace muster {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

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

RoomMaker::RoomMaker(Context context)
    : problem_(context.problem),
      shares_(context.shares),
      end_(context.end),
      room_(context.room),
      counts_(std::move(context.counts)),
      proven_(context.proven) {
  quota_.resize(problem_.queues.size());
  for (const QueueIndex queue : problem_.queues.indices()) {
    quota_[queue] = problem_.queues[queue].quota;
    for (Amount& amount : quota_[queue]) {
      if (amount == kUnlimited) amount = kLargest;
    }
  }
  collect_victims();
}

void RoomMaker::collect_victims() {
  std::map<VictimKind, std::vector<PodIndex>> by_kind;
  const Indexed<PodIndex, bool> held = held_by_budgets(problem_, end_);
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
    VictimKind kind{gang.queue, gang.priority, core_run_time < queue.preempt_min_runtime, 0, false};
    for (std::size_t i = 0; i < std::min<std::size_t>(queue.ancestors.size(), 32); ++i) {
      const bool is_protected = core_run_time < problem_.queues[queue.ancestors[i]].reclaim_min_runtime;
      kind.reclaim_protected |= std::uint32_t{is_protected} << i;
    }
    const VictimKind surplus_kind{gang.queue, gang.priority, false, 0, false};
    for (const auto& [pod, is_surplus] : pods) {
      VictimKind own = is_surplus ? surplus_kind : kind;
      own.held = held[pod];
      by_kind[own].push_back(pod);
    }
  }
  for (auto& [kind, pods] : by_kind) {
    victim_count_ += pods.size();
    KindOfVictims victims{kind, std::move(pods), {}, std::vector<Amount>(problem_.resource_count, 0)};
    for (const PodIndex pod : victims.pods) {
      const PodClass& pod_class = problem_.class_of(pod);
      const QueueAmounts usage = queue_usage(pod_class, problem_.class_of(end_.node[pod]));
      for (std::size_t i = 0; i < kQueueResources; ++i) victims.usage[i] = saturating_add(victims.usage[i], usage[i]);
      for (std::size_t r = 0; r < problem_.resource_count; ++r) {
        victims.amounts[r] = saturating_add(victims.amounts[r], pod_class.request[r]);
      }
    }
    victims_.push_back(std::move(victims));
  }
}

std::string RoomMaker::tell(GangIndex gang, const GangNeed& need, bool fits_already) {
  MUSTER_REQUIRE(need.possible);
  const Actions& actions = problem_.snapshot->policy.actions;
  if (!actions.place || (!actions.preempt && !actions.reclaim && !actions.consolidate)) return "NotAllowed";
  demand_ = least_usage(problem_, need);
  const auto fits = [&](Rules rules) { return fits_without(gang, need, kinds_that_may_go(gang, rules)); };
  const Fits with_all = fits_already ? Fits::kUnknown : fits({});
  // Enough could be evicted if the other actions were allowed, too.
  if (with_all == Fits::kYes && !(actions.preempt && actions.reclaim) && fits({.actions = true}) == Fits::kNo)
    return "NotAllowed";
  if (problem_.gangs[gang].preemption_policy == PreemptionPolicy::kNever) return "Policy";
  if (fits_already) return open_end();
  if (with_all == Fits::kNo) return own_pods_could_move(gang, need) ? open_end() : "NotEnough";
  // What is not known to be impossible is taken to be possible.
  const auto is_allowed = [&](bool share, bool priority, bool protection) {
    return fits({.share = share, .priority = priority, .protection = protection, .actions = true}) != Fits::kNo;
  };
  if (!is_allowed(true, true, false)) {
    // Shares precede priorities in the list if either could be the cause.
    const bool is_priority = !is_allowed(false, true, false) && is_allowed(true, false, false);
    return is_priority ? "Priority" : "FairShare";
  }
  if (!is_allowed(true, true, true)) return "Protected";
  if (fits({.share = true, .priority = true, .protection = true, .budgets = true, .actions = true}) == Fits::kNo)
    return "DisruptionBudget";
  return with_all == Fits::kYes && proven_ ? "Outranked" : open_end();
}

// Its own pods are assumed to stay. The plan may move them, which may help if they are of another class than what is
// missing: pods of one class only swap places.
bool RoomMaker::own_pods_could_move(GangIndex gang, const GangNeed& need) const {
  return problem_.gangs[gang].preemptible && std::ranges::any_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
           const bool is_alike =
               need.items.size() == 1 && problem_.pods[pod].pod_class == need.items.front().pod_class;
           return end_.is_present(pod) && (!is_alike || requires_level(problem_, problem_.gangs[gang]));
         });
}

std::string RoomMaker::tell_budget(GangIndex gang) const {
  const DisruptionBudgets& budgets = problem_.disruption_budgets;
  std::map<DisruptionBudgetIndex, std::int64_t> holds;
  for (const KindOfVictims& victims : victims_) {
    if (!victims.kind.held ||
        !may_go(victims.kind, gang, {.share = true, .priority = true, .protection = true, .actions = true}))
      continue;
    for (const PodIndex pod : victims.pods) {
      for (const DisruptionBudgetIndex budget : budgets.of(pod)) ++holds[budget];
    }
  }
  if (holds.empty()) return "";
  const auto most = std::ranges::max_element(holds, {}, [](const auto& held) { return held.second; });
  const DisruptionBudget& budget = budgets.all()[most->first];
  return "Evictions would make room, but " + budget.title() + " allows " + std::to_string(budget.allowed) +
         " of its pods to be evicted.";
}

std::vector<std::uint32_t> RoomMaker::kinds_that_may_go(GangIndex gang, Rules rules) const {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t i = 0; i < victims_.size(); ++i) {
    if (may_go(victims_[i].kind, gang, rules)) kinds.push_back(i);
  }
  return kinds;
}

Fits RoomMaker::fits_without(GangIndex gang, const GangNeed& need, const std::vector<std::uint32_t>& kinds) {
  if (kinds.empty()) return Fits::kNo;
  const Gang& claimant = problem_.gangs[gang];
  const bool runs = std::ranges::any_of(claimant.pods, [&](PodIndex pod) { return end_.is_present(pod); });
  Vacancy& vacated = vacancy(kinds, runs && claimant.preemptible ? gang : GangIndex::none());
  if (!queues_allow(gang, vacated)) return Fits::kNo;
  if (runs && !topology_conflict(problem_, end_, gang, need).empty()) return Fits::kNo;
  const bool has_too_few = std::ranges::any_of(
      need.items, [&](const NeedItem& item) { return count_in(vacated, item.pod_class) < std::ssize(item.pods); });
  if (has_too_few) return Fits::kNo;
  const bool is_simple =
      need.items.size() == 1 && !requires_level(problem_, claimant) && !has_anti_affinity(problem_, need);
  if (is_simple) return Fits::kYes;
  return is_spent() ? Fits::kUnknown : packs_in(gang, need, vacated);
}

bool RoomMaker::may_go(const VictimKind& victim, GangIndex gang, Rules rules) const {
  const Gang& claimant = problem_.gangs[gang];
  if (rules.budgets && victim.held) return false;
  if (victim.queue != claimant.queue) return may_be_reclaimed(victim, gang, rules);
  if (rules.priority && victim.priority >= claimant.priority) return false;
  if (rules.protection && victim.preempt_protected) return false;
  return !rules.actions || problem_.snapshot->policy.actions.preempt;
}

bool RoomMaker::may_be_reclaimed(const VictimKind& victim, GangIndex gang, Rules rules) const {
  const QueueIndex claimant = problem_.gangs[gang].queue;
  const std::vector<QueueIndex>& above = problem_.queues[claimant].ancestors;
  const bool is_above = std::ranges::find(above, victim.queue) != above.end();
  if (rules.share && is_above) return false;  // there are no two sides
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

// Whether from the gang's queue up to `up_to` its requests stay within the bound.
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

template <class Visit>
void RoomMaker::for_each_victim(const Vacancy& vacancy, const Visit& visit) const {
  for (const std::uint32_t kind : vacancy.kinds) {
    for (const PodIndex pod : victims_[kind].pods) {
      if (problem_.pods[pod].gang != vacancy.spared) visit(pod);
    }
  }
}

RoomMaker::Vacancy& RoomMaker::vacancy(const std::vector<std::uint32_t>& kinds, GangIndex spared) {
  std::vector<std::uint32_t> key = kinds;
  key.push_back(spared.is_none() ? kNobody : spared.value());
  const auto [at, is_new] = vacancies_.try_emplace(std::move(key));
  if (is_new) at->second = {kinds, spared, {}};
  return at->second;
}

void RoomMaker::take_victims(const Vacancy& vacancy, RemainingRoom& room) const {
  for_each_victim(vacancy, [&](PodIndex pod) { room.take(pod, end_.node[pod], end_.devices[pod]); });
}

// What pods of the kind use that are the gang's own.
QueueAmounts RoomMaker::spared_usage(GangIndex gang, std::uint32_t kind) const {
  QueueAmounts sum{};
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (std::ranges::find(victims_[kind].pods, pod) == victims_[kind].pods.end()) continue;
    const QueueAmounts usage = queue_usage(problem_.class_of(pod), problem_.class_of(end_.node[pod]));
    for (std::size_t i = 0; i < kQueueResources; ++i) sum[i] = saturating_add(sum[i], usage[i]);
  }
  return sum;
}

bool RoomMaker::queues_allow(GangIndex gang, const Vacancy& vacated) const {
  const Gang& claimant = problem_.gangs[gang];
  const bool within_quota = !claimant.preemptible && problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex index : problem_.queues[claimant.queue].ancestors) {
    const Queue& queue = problem_.queues[index];
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (demand_[i] == 0) continue;
      Amount gone = 0;
      for (const std::uint32_t kind : vacated.kinds) {
        const std::vector<QueueIndex>& ancestors = problem_.queues[victims_[kind].kind.queue].ancestors;
        if (std::ranges::find(ancestors, index) == ancestors.end()) continue;
        gone = saturating_add(gone, victims_[kind].usage[i]);
        if (!vacated.spared.is_none()) gone = saturating_subtract(gone, spared_usage(vacated.spared, kind)[i]);
      }
      if (queue.limit[i] != kUnlimited && saturating_add(end_.usage[index][i] - gone, demand_[i]) > queue.limit[i])
        return false;
      if (within_quota && saturating_add(end_.non_preemptible_usage[index][i], demand_[i]) > quota_[index][i])
        return false;
    }
  }
  return true;
}

// Pods of the class that fit once the victims are gone: what fits now, plus the gain of the nodes that they leave.
std::int64_t RoomMaker::count_in(Vacancy& vacated, PodClassIndex index) {
  const auto [at, is_new] = vacated.counts.try_emplace(index, 0);
  if (!is_new) return at->second;
  if (vacated.kinds.size() == victims_.size() && vacated.spared.is_none()) return at->second = count_in_all(index);
  if (is_spent()) return at->second = count_by_sums(vacated, index);
  const PodClass& pod_class = problem_.pod_classes[index];
  std::vector<NodeIndex> touched;
  for_each_victim(vacated, [&](PodIndex pod) { touched.push_back(end_.node[pod]); });
  visits_ += 2 * std::ssize(touched);
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::int64_t gain = 0;
  const auto count_touched = [&](std::int64_t sign) {
    for (const NodeIndex node : touched) {
      if (!pod_class.allowed[problem_.nodes[node].node_class.value()]) continue;
      gain = saturating_add(gain, sign * room_.count(pod_class, node, kLargest));
    }
  };
  count_touched(-1);
  const std::size_t mark = room_.mark();
  take_victims(vacated, room_);
  count_touched(1);
  room_.roll_back(mark);
  return at->second = saturating_add(counts_(index), gain);
}

std::int64_t RoomMaker::count_in_all(PodClassIndex index) {
  if (!without_victims_) {
    without_victims_ = room_;
    for (const KindOfVictims& victims : victims_) {
      for (const PodIndex pod : victims.pods) without_victims_->take(pod, end_.node[pod], end_.devices[pod]);
    }
  }
  const PodClass& pod_class = problem_.pod_classes[index];
  std::int64_t count = 0;
  for (const NodeIndex node : room_.nodes()) {
    if (!pod_class.allowed[problem_.nodes[node].node_class.value()]) continue;
    count = saturating_add(count, without_victims_->count(pod_class, node, kLargest));
  }
  return count;
}

// What fits now, plus the total held by the victims.
std::int64_t RoomMaker::count_by_sums(const Vacancy& vacated, PodClassIndex index) const {
  const PodClass& pod_class = problem_.pod_classes[index];
  QueueAmounts usage{};
  std::vector<Amount> amounts(problem_.resource_count, 0);
  for (const std::uint32_t kind : vacated.kinds) {
    usage[kQueueGpu] = saturating_add(usage[kQueueGpu], victims_[kind].usage[kQueueGpu]);
    for (std::size_t r = 0; r < amounts.size(); ++r) amounts[r] = saturating_add(amounts[r], victims_[kind].amounts[r]);
  }
  std::int64_t most = kLargest;
  if (pod_class.smallest_gpu_usage > 0) most = usage[kQueueGpu] / pod_class.smallest_gpu_usage;
  for (std::size_t r = 0; r < amounts.size(); ++r) {
    if (pod_class.request[r] > 0) most = std::min(most, amounts[r] / pod_class.request[r]);
  }
  return saturating_add(counts_(index), most);
}

// By packing; if that fails, by a bounded search.
Fits RoomMaker::packs_in(GangIndex gang, const GangNeed& need, const Vacancy& vacated) {
  const std::size_t mark = room_.mark();
  take_victims(vacated, room_);
  const std::size_t without_victims = room_.mark();
  Packer packer(problem_, &end_, room_, PackingRules{});
  const Packing packing = packer.pack(need, problem_.gangs[gang].root);
  room_.roll_back(without_victims);
  visits_ += packer.visits() + static_cast<std::int64_t>(victim_count_);
  Fits fits = packing.left == 0 ? Fits::kYes : Fits::kUnknown;
  if (fits == Fits::kUnknown && need.pods <= kSearchPods) {
    fits = search_fit(problem_, need, &end_, room_, PackingRules{}, kSearchSteps);
    visits_ += kSearchSteps / 4;
  }
  room_.roll_back(mark);
  return fits;
}

}  // namespace muster
