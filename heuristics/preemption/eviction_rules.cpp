#include "heuristics/preemption/eviction_rules.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

EvictionPrice::EvictionPrice(const Problem& problem)
    : problem_(problem), price_(problem.snapshot->policy.over_time.eviction_price) {
  if (!price_) return;
  for (const GangIndex gang : problem.gangs.indices()) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const PodIndex pod : problem.gangs[gang].pods) {
      if (problem.pods[pod].status == PodStatus::kRunning) least = std::min(least, loss_of(problem, pod));
    }
    least_loss_.push_back(least);
    most_loss_.push_back(most_loss_for(problem, gang, *price_));
  }
}

bool EvictionPrice::holds(const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) const {
  if (!is_set()) return true;
  std::map<GangIndex, std::int64_t> losses;
  for (const PlannedEviction& eviction : evictions) {
    if (eviction.reason == EvictionReason::kStale || eviction.for_gang.is_none()) continue;
    if (end_state.is_present(eviction.pod) && is_home(end_state, eviction.pod)) continue;
    std::int64_t& loss = losses[eviction.for_gang];
    loss = saturating_add(loss, loss_of(problem_, eviction.pod));
  }
  return std::ranges::all_of(losses, [&](const auto& one) { return one.second <= most_loss_[one.first]; });
}

namespace {

// The maximum, in millionths of a device, that a pod of the class takes, wherever it is: a memory request may take all
// of one.
MicroGpu most_devices(const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kNone) return 0;
  return pod_class.gpu.devices * (pod_class.gpu.kind == GpuRequestKind::kFraction ? pod_class.gpu.share : 1'000'000);
}

// A bit for each of gpu, cpu and memory that it asks for.
std::uint8_t mask_of(const PodClass& pod_class) {
  return static_cast<std::uint8_t>((pod_class.counts_as_gpu ? 1U << kQueueGpu : 0) |
                                   (pod_class.request[kCpu.value()] > 0 ? 1U << kQueueCpu : 0) |
                                   (pod_class.request[kMemory.value()] > 0 ? 1U << kQueueMemory : 0));
}

// Whether queues and policies put the two gangs on two sides of a reclaim.
bool have_sides(const Problem& problem, GangIndex claimant, GangIndex victim) {
  const Gang &c = problem.gangs[claimant], &v = problem.gangs[victim];
  if (!v.preemptible || c.preemption_policy == PreemptionPolicy::kNever || c.queue == v.queue || c.queue.is_none() ||
      v.queue.is_none() || !problem.queues[v.queue].reclaimable)
    return false;
  // A pod that runs in a queue above the claimant's is on neither side.
  return v.queue_is_leaf ||
         std::ranges::find(problem.queues[c.queue].ancestors, v.queue) == problem.queues[c.queue].ancestors.end();
}

// What is placed counts as what runs does, except of a gang that leaves as a whole.
bool is_whole(const Problem& problem, const ClusterState& end_state, GangIndex gang) {
  if (!is_anything_present(end_state, gang)) return true;
  return is_satisfied(end_state, gang) && !problem.gangs[gang].leaves_whole;
}

}  // namespace

EvictionRules::EvictionRules(const Problem& problem, const FairShares& shares, const ClusterState& before)
    : problem_(problem),
      shares_(shares),
      usage_before_(before.queues().usage()),
      before_(before),
      price_(problem),
      asked_(problem.gangs.size()) {
  for (const Queue& queue : problem.queues) {
    QueueAmounts quota = queue.quota;
    for (Amount& amount : quota) amount = amount == kUnlimited ? kNoBound : amount;
    quota_.push_back(quota);
    any_min_runtime_ = any_min_runtime_ || queue.preempt_min_runtime > 0 || queue.reclaim_min_runtime > 0;
  }
}

// Threads that find it at the same time find the same.
std::uint8_t EvictionRules::find_asked(GangIndex gang) const {
  std::uint8_t found = kKnown;
  for (const PodIndex pod : problem_.gangs[gang].pods) found |= mask_of(problem_.class_of(pod));
  asked_[gang].store(found, std::memory_order_relaxed);
  return found;
}

std::uint64_t EvictionRules::claimant_kind(GangIndex gang) const {
  std::uint64_t kind = problem_.gangs[gang].queue.value();
  for (const bool asks : asked_for(gang)) kind = kind << 1 | (asks ? 1 : 0);
  return kind << 1 | (problem_.gangs[gang].preemptible ? 1 : 0);
}

void EvictionRules::make_survey() const {
  const std::lock_guard lock(surveying_);
  if (is_surveyed_.load(std::memory_order_relaxed)) return;
  survey_.lowest_running.assign(problem_.queues.size(), std::numeric_limits<std::int32_t>::max());
  Indexed<QueueIndex, GangIndex> first(problem_.queues.size(), GangIndex::none());
  std::vector<bool> may_leave(problem_.pod_classes.size(), false);
  double run_seconds = 0, pods = 0;
  const auto look_at = [&](const Pod& pod) {
    const Gang& gang = problem_.gangs[pod.gang];
    if (pod.status != PodStatus::kRunning) return;
    const auto taken = static_cast<double>(most_devices(problem_.pod_classes[pod.pod_class])) / 1e3;
    if (taken > 0)
      survey_.least_weight = std::min(survey_.least_weight, static_cast<double>(pod.weighted_work) / taken);
    if (!may_evict(pod.gang)) return;
    survey_.lowest_running[gang.queue] = std::min(survey_.lowest_running[gang.queue], gang.priority);
    if (first[gang.queue].is_none()) first[gang.queue] = pod.gang;
    may_leave[pod.pod_class.value()] = true;
    run_seconds += static_cast<double>(pod.run_seconds);
    ++pods;
  };
  for (const GangIndex gang : problem_.gangs.indices()) {
    if (before_.version(gang) == 0) continue;  // no pod of it runs
    for (const PodIndex pod : problem_.gangs[gang].pods) look_at(problem_.pods[pod]);
  }
  if (pods > 0) survey_.mean_run_seconds = static_cast<std::int64_t>(run_seconds / pods);
  for (const PodClassIndex pod_class : problem_.pod_classes.indices()) {
    if (may_leave[pod_class.value()]) survey_.running_classes.push_back(pod_class);
  }
  for (const QueueIndex queue : problem_.queues.indices()) {
    if (!first[queue].is_none()) survey_.runs_in.emplace_back(queue, first[queue]);
  }
  for (const GangIndex gang : problem_.gangs.indices()) {
    const Gang& g = problem_.gangs[gang];
    if (g.asks_for_min_resources()) survey_.with_min_resources.push_back(gang);
  }
  survey_.is_local =
      survey_.with_min_resources.empty() && !problem_.has_inter_pod_rules() && !problem_.snapshot->policy.max_moves &&
      (problem_.topology.levels.empty() ||
       std::ranges::all_of(problem_.groups, [](const Group& group) { return group.required_level.is_none(); }));
  is_surveyed_.store(true, std::memory_order_release);
}

bool EvictionRules::may_evict(GangIndex victim) const {
  return problem_.gangs[victim].preemptible && !problem_.gangs[victim].queue.is_none();
}

bool EvictionRules::may_move(const ClusterState& state, PodIndex pod) const {
  const Pod& p = problem_.pods[pod];
  const Gang& gang = problem_.gangs[p.gang];
  if (p.status != PodStatus::kRunning || !gang.preemptible || gang.leaves_whole || !fit::queue_exists(gang) ||
      !fit::may_start(gang))
    return false;
  if (!state.budgets_allow({&pod, 1})) return false;
  return state.is_present(pod) && is_satisfied(state, p.gang);  // what is placed has its minimum
}

bool EvictionRules::may_preempt(GangIndex claimant, GangIndex victim) const {
  const Gang &c = problem_.gangs[claimant], &v = problem_.gangs[victim];
  return may_evict(victim) && c.preemption_policy == PreemptionPolicy::kPreemptLowerPriority && c.queue == v.queue &&
         v.priority < c.priority;
}

bool EvictionRules::has_reclaimed_by_right(const ClusterState& end_state, GangIndex claimant, GangIndex victim) const {
  if (!have_sides(problem_, claimant, victim) || !claims_within_share(end_state, claimant, victim, {})) return false;
  const Sides s = sides(problem_.gangs[claimant].queue, problem_.gangs[victim].queue);
  return is_still_over(s.victim, usage_before_[s.victim], claimant, !is_over_quota(end_state, s.claimant, claimant));
}

// Over its share (or quota) before the plan, and still over it: so it is not reduced more than needed.
bool EvictionRules::may_reclaim(const ClusterState& state, GangIndex claimant, GangIndex victim) const {
  if (!have_sides(problem_, claimant, victim)) return false;
  const QueueIndex side = sides(problem_.gangs[claimant].queue, problem_.gangs[victim].queue).victim;
  return is_still_over(side, state.queues().usage()[side], claimant, true);
}

bool EvictionRules::has_run_enough(const ClusterState& state, GangIndex claimant, GangIndex victim,
                                   EvictionReason reason) const {
  const Gang& gang = problem_.gangs[victim];
  const Nanoseconds least = min_runtime(claimant, victim, reason);
  if (least <= 0) return true;
  // Pods that have run for too short a time may leave as surplus if the rest is the minimum.
  const auto runs = [&](PodIndex pod) {
    return problem_.pods[pod].status == PodStatus::kRunning && state.is_present(pod);
  };
  const auto is_old = [&](PodIndex pod) {
    return problem_.pods[pod].status == PodStatus::kSucceeded || (runs(pod) && problem_.pods[pod].run_time >= least);
  };
  const bool is_protected = std::ranges::any_of(gang.pods, [&](PodIndex pod) { return runs(pod) && !is_old(pod); });
  return !is_protected || meets_minimum(problem_, gang, is_old);
}

EvictionRules::Sides EvictionRules::sides(QueueIndex claimant, QueueIndex victim) const {
  const auto &above_claimant = problem_.queues[claimant].ancestors, &above_victim = problem_.queues[victim].ancestors;
  auto c = above_claimant.rbegin();
  auto v = above_victim.rbegin();
  while (c != above_claimant.rend() && v != above_victim.rend() && *c == *v) ++c, ++v;
  return {c == above_claimant.rend() ? claimant : *c, v == above_victim.rend() ? victim : *v};
}

bool EvictionRules::is_over(const QueueAmounts& usage, const QueueAmounts& bound, GangIndex claimant) const {
  const auto& asked = asked_for(claimant);
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (asked[r] && usage[r] > bound[r]) return true;
  }
  return false;
}

bool EvictionRules::is_still_over(QueueIndex side, const QueueAmounts& usage, GangIndex claimant, bool or_quota) const {
  const auto is_over_both = [&](const QueueAmounts& bound) {
    return is_over(usage_before_[side], bound, claimant) && is_over(usage, bound, claimant);
  };
  return is_over_both(shares_.share[side]) || (or_quota && is_over_both(quota_[side]));
}

bool EvictionRules::is_over_quota(const ClusterState& state, QueueIndex queue, GangIndex claimant) const {
  return is_over(state.queues().usage()[queue], quota_[queue], claimant);
}

bool EvictionRules::claims_within_share(const ClusterState& state, GangIndex claimant, GangIndex victim,
                                        const QueueAmounts& added) const {
  const Gang& gang = problem_.gangs[claimant];
  const QueueIndex side = sides(gang.queue, problem_.gangs[victim].queue).claimant;
  for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
    QueueAmounts usage = state.queues().usage()[queue], fixed = state.queues().non_preemptible_usage()[queue];
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      usage[r] += added[r];
      fixed[r] += added[r];
    }
    if (is_over(usage, shares_.share[queue], claimant)) return false;
    if (!gang.preemptible && is_over(fixed, quota_[queue], claimant)) return false;
    if (queue == side) break;
  }
  return true;
}

Nanoseconds EvictionRules::min_runtime(GangIndex claimant, GangIndex victim, EvictionReason reason) const {
  if (!any_min_runtime_) return 0;
  const QueueIndex queue = problem_.gangs[victim].queue;
  if (reason == EvictionReason::kPreempt) return problem_.queues[queue].preempt_min_runtime;
  if (reason != EvictionReason::kReclaim) return 0;
  return problem_.queues[sides(problem_.gangs[claimant].queue, queue).victim].reclaim_min_runtime;
}

// Pods of an evicted gang that have run for too short a time must be its surplus, whenever they left: the others made
// up its minimum.
bool EvictionRules::keeps_protection(const ClusterState& end_state, const std::vector<PlannedEviction>& lost) const {
  if (!any_min_runtime_) return true;
  std::map<GangIndex, std::set<PodIndex>> young;
  for (const PlannedEviction& eviction : lost) {
    const Pod& pod = problem_.pods[eviction.pod];
    if (pod.run_time < min_runtime(eviction.for_gang, pod.gang, eviction.reason) && !is_satisfied(end_state, pod.gang))
      young[pod.gang].insert(eviction.pod);
  }
  return std::ranges::all_of(young, [&](const auto& of_gang) {
    const auto is_old = [&](PodIndex pod) {
      const PodStatus status = problem_.pods[pod].status;
      return status == PodStatus::kSucceeded || (status == PodStatus::kRunning && !of_gang.second.contains(pod));
    };
    return meets_minimum(problem_, problem_.gangs[of_gang.first], is_old);
  });
}

// For a gang that leaves as a whole, the least work that makes up its minimum is one unit, if any of it is reclaimed;
// every other pod is one by itself.
QueueAmounts EvictionRules::largest_unit_reclaimed(const ClusterState& end_state,
                                                   const std::vector<PlannedEviction>& lost, QueueIndex side) const {
  const auto usage_of = [&](PodIndex pod) {  // on the node where it ran
    return queue_usage(problem_.class_of(pod), problem_.class_of(problem_.pods[pod].node));
  };
  std::map<GangIndex, std::vector<PodIndex>> by_gang;
  QueueAmounts largest{};
  const auto take_larger = [&](const QueueAmounts& unit) {
    for (std::size_t r = 0; r < kQueueResources; ++r) largest[r] = std::max(largest[r], unit[r]);
  };
  for (const PlannedEviction& eviction : lost) {
    const GangIndex gang = problem_.pods[eviction.pod].gang;
    if (eviction.reason != EvictionReason::kReclaim ||
        sides(problem_.gangs[eviction.for_gang].queue, problem_.gangs[gang].queue).victim != side)
      continue;
    if (problem_.gangs[gang].pods.size() == 1) {
      take_larger(usage_of(eviction.pod));
    } else {
      by_gang[gang].push_back(eviction.pod);
    }
  }
  for (const auto& [gang, pods] : by_gang) {
    const std::vector<PodIndex> core = is_anything_present(end_state, gang) ? std::vector<PodIndex>{} : core_of(gang);
    QueueAmounts together{};
    for (const PodIndex pod : core) {
      for (std::size_t r = 0; r < kQueueResources; ++r) together[r] += usage_of(pod)[r];
    }
    for (const PodIndex pod : pods) take_larger(std::ranges::find(core, pod) != core.end() ? together : usage_of(pod));
  }
  return largest;
}

// Of all that ran, since a pod that left for another reason may have been part of the minimum: from the innermost
// groups up, each group takes as many of its pods, or groups, as it needs, those of least work first. All that ran if
// that is too few.
std::vector<PodIndex> EvictionRules::core_of(GangIndex index) const {
  using Part = std::pair<Work, std::vector<PodIndex>>;
  const Gang& gang = problem_.gangs[index];
  std::map<GroupIndex, std::vector<Part>> parts;
  std::vector<PodIndex> ran;
  for (const PodIndex pod : gang.pods) {
    const Pod& p = problem_.pods[pod];
    if (p.status == PodStatus::kSucceeded) parts[p.group].push_back({0, {}});
    if (p.status != PodStatus::kRunning) continue;
    parts[p.group].push_back({p.weighted_work, {pod}});
    ran.push_back(pod);
  }
  for (std::size_t i = gang.groups.size(); i-- > 0;) {  // parents come before their children
    const Group& group = problem_.groups[gang.groups[i]];
    std::vector<Part>& own = parts[gang.groups[i]];
    const auto needed = static_cast<std::size_t>(std::max(0, group.minimum));
    if (own.size() < needed) continue;
    std::ranges::stable_sort(own, {}, &Part::first);
    Part whole;
    for (std::size_t k = 0; k < needed; ++k) {
      whole.first += own[k].first;
      whole.second.insert(whole.second.end(), own[k].second.begin(), own[k].second.end());
    }
    if (group.parent.is_none()) return whole.second;
    parts[group.parent].push_back(std::move(whole));
  }
  return ran;
}

// Whether the claimant is within its share, and the victim's side would be over its own if this much were returned to
// it.
bool EvictionRules::reclaim_holds(const ClusterState& end_state, const PlannedEviction& eviction,
                                  const QueueAmounts& back) const {
  const GangIndex victim = problem_.pods[eviction.pod].gang;
  if (!claims_within_share(end_state, eviction.for_gang, victim, {})) return false;
  const Sides s = sides(problem_.gangs[eviction.for_gang].queue, problem_.gangs[victim].queue);
  QueueAmounts usage = end_state.queues().usage()[s.victim];
  for (std::size_t r = 0; r < kQueueResources; ++r) usage[r] = saturating_add(usage[r], back[r]);
  return is_still_over(s.victim, usage, eviction.for_gang, !is_over_quota(end_state, s.claimant, eviction.for_gang));
}

// Claimants of one kind are examined together for each queue that they take from.
bool EvictionRules::reclaims_hold(const ClusterState& end_state, const std::vector<PlannedEviction>& lost) const {
  using Kind = std::pair<std::uint64_t, QueueIndex>;
  std::set<Kind> seen;
  Kind last{0, QueueIndex::none()};
  for (const PlannedEviction& eviction : lost) {
    if (eviction.reason != EvictionReason::kReclaim) continue;
    const QueueIndex from = problem_.gangs[problem_.pods[eviction.pod].gang].queue;
    const Kind kind{claimant_kind(eviction.for_gang), from};
    if (kind == last || !seen.insert(kind).second) continue;
    last = kind;
    if (reclaim_holds(end_state, eviction, {})) continue;
    const QueueIndex side = sides(problem_.gangs[eviction.for_gang].queue, from).victim;
    if (!reclaim_holds(end_state, eviction, largest_unit_reclaimed(end_state, lost, side))) return false;
  }
  return true;
}

void EvictionRules::note(const PlannedEviction& eviction, EvictedKinds& kinds) const {
  const GangIndex index = problem_.pods[eviction.pod].gang;
  const Gang& gang = problem_.gangs[index];
  const bool is_one_pod = gang.pods.size() == 1 && problem_.groups[gang.root].minimum <= 1 && !gang.leaves_whole;
  if (!is_one_pod && kinds.known_gangs.insert(index).second) kinds.gangs.push_back(index);
  if (eviction.reason != EvictionReason::kReclaim) return;
  if (kinds.known_reclaims.emplace(claimant_kind(eviction.for_gang), gang.queue).second)
    kinds.reclaims.push_back(eviction);
}

bool EvictionRules::surely_hold(const ClusterState& end_state, const EvictedKinds& kinds) const {
  if (any_min_runtime_ || price_.is_set() || problem_.snapshot->policy.max_moves || !end_state.budgets().are_kept())
    return false;
  const bool are_whole =
      std::ranges::all_of(kinds.gangs, [&](GangIndex gang) { return is_whole(problem_, end_state, gang); });
  return are_whole && std::ranges::all_of(kinds.reclaims, [&](const PlannedEviction& eviction) {
           return reclaim_holds(end_state, eviction, {});
         });
}

bool EvictionRules::hold(const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) const {
  if (!end_state.budgets().are_kept()) return false;
  std::vector<PlannedEviction> lost;
  std::int64_t moves = 0;
  for (const PlannedEviction& eviction : evictions) {
    if (eviction.reason == EvictionReason::kStale) continue;
    if (!end_state.is_present(eviction.pod)) {
      lost.push_back(eviction);
    } else if (!is_home(end_state, eviction.pod)) {
      ++moves;
      const GangIndex gang = problem_.pods[eviction.pod].gang;
      if (problem_.gangs[gang].leaves_whole) return false;
      if (!is_satisfied(end_state, gang)) return false;  // what is placed has its minimum
    }
  }
  const auto& most = problem_.snapshot->policy.max_moves;
  if (most && moves > *most) return false;
  if (!price_.holds(end_state, evictions)) return false;
  const bool are_whole = std::ranges::all_of(lost, [&](const PlannedEviction& eviction) {
    const GangIndex gang = problem_.pods[eviction.pod].gang;
    return problem_.gangs[gang].pods.size() == 1 || is_whole(problem_, end_state, gang);
  });
  return are_whole && keeps_protection(end_state, lost) && reclaims_hold(end_state, lost);
}

void EvictionRules::name_claimants(const ClusterState& end_state, std::vector<PlannedEviction>& evictions) const {
  std::set<GangIndex> placed;
  std::map<NodeIndex, std::set<GangIndex>> by_node;
  for (const PodIndex pod : problem_.pods.indices()) {
    if (!fit::is_pending(problem_.pods[pod]) || !end_state.is_present(pod)) continue;
    placed.insert(problem_.pods[pod].gang);
    by_node[end_state.node_of(pod)].insert(problem_.pods[pod].gang);
  }
  const Actions& actions = problem_.snapshot->policy.actions;
  const auto may_claim = [&](GangIndex gang, GangIndex victim, EvictionReason reason) {
    if (!price_.may_claim(gang, victim)) return false;
    if (reason == EvictionReason::kPreempt) return actions.preempt && may_preempt(gang, victim);
    if (reason == EvictionReason::kReclaim) return actions.reclaim && has_reclaimed_by_right(end_state, gang, victim);
    return true;
  };
  for (PlannedEviction& eviction : evictions) {
    if (eviction.reason == EvictionReason::kStale || placed.contains(eviction.for_gang)) continue;
    const GangIndex victim = problem_.pods[eviction.pod].gang;
    std::vector<EvictionReason> reasons{eviction.reason};
    if (eviction.reason == EvictionReason::kPreempt) reasons.push_back(EvictionReason::kReclaim);
    if (eviction.reason == EvictionReason::kReclaim) reasons.push_back(EvictionReason::kPreempt);
    const auto name = [&](const std::set<GangIndex>& gangs, EvictionReason reason) {
      const auto found = std::ranges::find_if(gangs, [&](GangIndex gang) { return may_claim(gang, victim, reason); });
      if (found != gangs.end()) eviction = {eviction.pod, reason, *found};
      return found != gangs.end();
    };
    for (const EvictionReason reason : reasons) {
      if (name(by_node[problem_.pods[eviction.pod].node], reason) || name(placed, reason)) break;
    }
  }
}

}  // namespace muster::preemption
