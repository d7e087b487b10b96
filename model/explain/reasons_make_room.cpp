#include "model/explain/reasons_make_room.h"

#include <algorithm>
#include <limits>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/explain/reasons_plain.h"

namespace muster::explain {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

RoomMaker::RoomMaker(Context context)
    : problem_(context.problem),
      end_(context.end),
      remaining_(context.remaining),
      counts_(std::move(context.counts)),
      proven_(context.proven),
      victims_(alike_victims(context.problem, context.end)),
      grounds_(context.problem, context.shares, context.end),
      trial_(context.problem, &context.end, context.remaining, budget_) {
  for (const AlikeVictims& group : victims_) victim_count_ += std::ssize(group.pods);
}

MakeRoomCode RoomMaker::tell(GangIndex gang, const GangNeed& need, bool fits_already) {
  MUSTER_REQUIRE(need.possible);
  const Actions& actions = problem_.snapshot->policy.actions;
  if (!actions.place || (!actions.preempt && !actions.reclaim && !actions.consolidate))
    return MakeRoomCode::kNotAllowed;
  claim_ = {gang, least_usage(problem_, need)};
  const auto fits = [&](EvictionRuleSet rules) { return fits_without(need, kinds_that_may_go(rules)); };
  const Fits with_all = fits_already ? Fits::kUnknown : fits({});
  // Enough could be evicted if the other actions were allowed, too.
  if (with_all == Fits::kYes && !(actions.preempt && actions.reclaim) && fits({.actions = true}) == Fits::kNo)
    return MakeRoomCode::kNotAllowed;
  if (problem_.gangs[gang].preemption_policy == PreemptionPolicy::kNever) return MakeRoomCode::kPolicy;
  if (fits_already) return open_end();
  if (with_all == Fits::kNo) return own_pods_could_move(gang, need) ? open_end() : MakeRoomCode::kNotEnough;
  // What is not known to be impossible is taken to be possible.
  const auto is_allowed = [&](bool share, bool priority, bool protection) {
    return fits({.share = share, .priority = priority, .protection = protection, .actions = true}) != Fits::kNo;
  };
  if (!is_allowed(true, true, false)) {
    // Shares precede priorities in the list if either could be the cause.
    const bool is_priority = !is_allowed(false, true, false) && is_allowed(true, false, false);
    return is_priority ? MakeRoomCode::kPriority : MakeRoomCode::kFairShare;
  }
  if (!is_allowed(true, true, true)) return MakeRoomCode::kProtected;
  if (fits({.share = true, .priority = true, .protection = true, .budgets = true, .actions = true}) == Fits::kNo)
    return MakeRoomCode::kDisruptionBudget;
  return with_all == Fits::kYes && proven_ ? MakeRoomCode::kOutranked : open_end();
}

// Its own pods are assumed to stay. The plan may move them, which may help if they are of another class than what is
// missing: pods of one class only swap places.
bool RoomMaker::own_pods_could_move(GangIndex gang, const GangNeed& need) const {
  return problem_.gangs[gang].preemptible && std::ranges::any_of(problem_.gangs[gang].pods, [&](PodIndex pod) {
           const bool is_alike = need.items.size() == 1 && problem_.pods[pod].pod_class == need.items.front().pod_class;
           return end_.is_present(pod) && (!is_alike || requires_level(problem_, problem_.gangs[gang]));
         });
}

std::string RoomMaker::tell_budget() const {
  const DisruptionBudgets& budgets = problem_.disruption_budgets;
  std::map<DisruptionBudgetIndex, std::int64_t> holds;
  for (const AlikeVictims& victims : victims_) {
    if (!victims.kind.held ||
        !grounds_.may_go(victims.kind, claim_, {.share = true, .priority = true, .protection = true, .actions = true}))
      continue;
    for (const PodIndex pod : victims.pods) {
      for (const DisruptionBudgetIndex budget : budgets.of(pod)) ++holds[budget];
    }
  }
  if (holds.empty()) return "";
  const auto most = std::ranges::max_element(holds, {}, [](const auto& held) { return held.second; });
  const DisruptionBudget& budget = budgets.all()[most->first];
  return "Evictions would make room, but " + budget.title() + " allows " + std::to_string(budget.allowed) +
         " of its pods to be evicted." +
         (budget.namespace_name.empty() ? "" : " kube-scheduler may break a disruption budget when it preempts.");
}

std::vector<std::uint32_t> RoomMaker::kinds_that_may_go(EvictionRuleSet rules) const {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t i = 0; i < victims_.size(); ++i) {
    if (grounds_.may_go(victims_[i].kind, claim_, rules)) kinds.push_back(i);
  }
  return kinds;
}

bool RoomMaker::could_start_without_bounds(GangIndex gang, const GangNeed& need) {
  const Policy& policy = problem_.snapshot->policy;
  if (!policy.actions.place) return false;
  const bool may_move = policy.actions.consolidate && policy.max_moves.value_or(1) > 0 && !victims_.empty();
  if (may_move && is_free_in_total(need)) return true;
  if (problem_.gangs[gang].preemption_policy == PreemptionPolicy::kNever) return false;
  claim_ = {gang, least_usage(problem_, need)};
  const EvictionRuleSet rules{.share = true, .priority = true, .protection = true, .budgets = true, .actions = true};
  return fits_without(need, kinds_that_may_go(rules), Bounds::kIgnored) != Fits::kNo;
}

// On all nodes, whichever the pods may use: moves free nothing.
bool RoomMaker::is_free_in_total(const GangNeed& need) const {
  std::vector<Amount> asked(problem_.resource_count, 0), free(problem_.resource_count, 0);
  std::int64_t devices = 0, idle = 0;
  for (const NeedItem& item : need.items) {
    const PodClass& pod_class = problem_.pod_classes[item.pod_class];
    const bool is_whole = pod_class.gpu.kind == GpuRequestKind::kWhole;
    if (is_whole) devices = saturating_add(devices, saturating_multiply(pod_class.gpu.devices, std::ssize(item.pods)));
    for (std::size_t r = 0; r < asked.size(); ++r)
      asked[r] = saturating_add(asked[r], saturating_multiply(pod_class.request[r], std::ssize(item.pods)));
  }
  for (const NodeIndex node : remaining_.nodes()) {
    const DeviceUnits whole = problem_.class_of(node).device_capacity();
    idle += std::ranges::count(remaining_.devices(node), whole);
    for (std::size_t r = 0; r < free.size(); ++r)
      free[r] = saturating_add(free[r], std::max<Amount>(0, remaining_.free(node)[r]));
  }
  return devices <= idle && std::ranges::equal(asked, free, std::ranges::less_equal());
}

Fits RoomMaker::fits_without(const GangNeed& need, const std::vector<std::uint32_t>& kinds, Bounds bounds) {
  if (kinds.empty()) return Fits::kNo;
  const GangIndex gang = claim_.gang;
  const Gang& claimant = problem_.gangs[gang];
  const bool runs = std::ranges::any_of(claimant.pods, [&](PodIndex pod) { return end_.is_present(pod); });
  Vacancy& vacated = vacancy(kinds, runs && claimant.preemptible ? gang : GangIndex::none());
  if (bounds == Bounds::kHeeded && !queues_allow(need, vacated)) return Fits::kNo;
  if (runs && !topology_conflict(problem_, end_, gang, need).empty()) return Fits::kNo;
  const bool has_too_few = std::ranges::any_of(
      need.items, [&](const NeedItem& item) { return count_in(vacated, item.pod_class) < std::ssize(item.pods); });
  if (has_too_few) return Fits::kNo;
  const bool is_simple =
      need.items.size() == 1 && !requires_level(problem_, claimant) && !has_anti_affinity(problem_, need);
  if (is_simple) return Fits::kYes;
  return budget_.is_spent() ? Fits::kUnknown : packs_in(need, vacated);
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
  key.push_back(spared.is_none() ? kNone : spared.value());
  const auto [at, is_new] = vacancies_.try_emplace(std::move(key));
  if (is_new) at->second = {kinds, spared, {}};
  return at->second;
}

void RoomMaker::take_victims(const Vacancy& vacancy, RemainingCapacity& remaining) const {
  for_each_victim(vacancy, [&](PodIndex pod) { remaining.take(pod, end_.node[pod], end_.devices[pod]); });
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

bool RoomMaker::other_limits_allow(const GangNeed& need, const Vacancy& vacated) const {
  return std::ranges::all_of(problem_.queues[problem_.gangs[claim_.gang].queue].other_limits, [&](OtherLimitIndex at) {
    const OtherLimit& limit = problem_.lists.other_limits[at];
    const Amount asked = asked_of(problem_, need, limit.resource);
    Amount gone = 0;
    for_each_victim(vacated, [&](PodIndex pod) {
      const std::vector<QueueIndex>& path = problem_.queues[problem_.gangs[problem_.pods[pod].gang].queue].ancestors;
      if (asked > 0 && std::ranges::find(path, limit.queue) != path.end())
        gone = saturating_add(gone, problem_.class_of(pod).request[limit.resource.value()]);
    });
    return asked == 0 || saturating_add(end_.limited[at] - gone, asked) <= limit.limit;
  });
}

bool RoomMaker::queues_allow(const GangNeed& need, const Vacancy& vacated) const {
  if (!other_limits_allow(need, vacated)) return false;
  const Gang& claimant = problem_.gangs[claim_.gang];
  const bool within_quota = !claimant.preemptible && problem_.snapshot->policy.non_preemptible_within_quota;
  for (const QueueIndex index : problem_.queues[claimant.queue].ancestors) {
    const Queue& queue = problem_.queues[index];
    for (std::size_t i = 0; i < kQueueResources; ++i) {
      if (claim_.demand[i] == 0) continue;
      Amount gone = 0;
      for (const std::uint32_t kind : vacated.kinds) {
        const std::vector<QueueIndex>& ancestors = problem_.queues[victims_[kind].kind.queue].ancestors;
        if (std::ranges::find(ancestors, index) == ancestors.end()) continue;
        gone = saturating_add(gone, victims_[kind].usage[i]);
        if (!vacated.spared.is_none()) gone = saturating_subtract(gone, spared_usage(vacated.spared, kind)[i]);
      }
      if (queue.limit[i] != kUnlimited &&
          saturating_add(end_.usage[index][i] - gone, claim_.demand[i]) > queue.limit[i])
        return false;
      if (within_quota &&
          saturating_add(end_.non_preemptible_usage[index][i], claim_.demand[i]) > grounds_.quota(index)[i])
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
  if (budget_.is_spent()) return at->second = count_by_sums(vacated, index);
  const PodClass& pod_class = problem_.pod_classes[index];
  std::vector<NodeIndex> touched;
  for_each_victim(vacated, [&](PodIndex pod) { touched.push_back(end_.node[pod]); });
  budget_.spend(2 * std::ssize(touched));
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::int64_t gain = 0;
  const auto count_touched = [&](std::int64_t sign) {
    for (const NodeIndex node : touched) {
      if (!pod_class.allowed[problem_.nodes[node].node_class.value()]) continue;
      gain = saturating_add(gain, sign * remaining_.count(pod_class, node, kLargest));
    }
  };
  count_touched(-1);
  const std::size_t mark = remaining_.mark();
  take_victims(vacated, remaining_);
  count_touched(1);
  remaining_.roll_back(mark);
  return at->second = saturating_add(counts_(index), gain);
}

std::int64_t RoomMaker::count_in_all(PodClassIndex index) {
  if (!without_victims_) {
    without_victims_ = remaining_;
    for (const AlikeVictims& victims : victims_) {
      for (const PodIndex pod : victims.pods) without_victims_->take(pod, end_.node[pod], end_.devices[pod]);
    }
  }
  const PodClass& pod_class = problem_.pod_classes[index];
  std::int64_t count = 0;
  for (const NodeIndex node : remaining_.nodes()) {
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

Fits RoomMaker::packs_in(const GangNeed& need, const Vacancy& vacated) {
  const std::size_t mark = remaining_.mark();
  take_victims(vacated, remaining_);
  budget_.spend(victim_count_);
  const Fits fits = trial_.fits(need, problem_.gangs[claim_.gang].root, PackingRules{});
  remaining_.roll_back(mark);
  return fits;
}

}  // namespace muster::explain
