#include "heuristics/preemption/victims.h"

#include <algorithm>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

bool is_hopeless(const PreemptionContext& context, const Claim& claim) {
  if (claim.mode == PreemptionMode::kSwap) return !context.ranks.any_after(claim.rank);
  const Gang& claimant = context.problem.gangs[claim.claimant];
  const EvictionSurvey& survey = context.rules.survey();
  if (claim.mode == PreemptionMode::kPreempt) return survey.lowest_running[claimant.queue] >= claimant.priority;
  // Whether gangs may be reclaimed depends on their queue alone.
  return std::ranges::none_of(survey.runs_in, [&](const auto& runs) {
    if (claim.mode != PreemptionMode::kReclaim) return true;
    return runs.first != claimant.queue && may_reclaim(context, claim, runs.second);
  });
}

bool is_claimant_new(const PreemptionContext& context, const Claim& claim) {
  return std::ranges::all_of(context.problem.gangs[claim.claimant].pods,
                             [&](PodIndex pod) { return context.problem.pods[pod].status != PodStatus::kRunning; });
}

bool may_reclaim(const PreemptionContext& context, const Claim& claim, GangIndex victim) {
  return context.rules.may_reclaim(context.state, claim.claimant, victim) &&
         context.rules.claims_within_share(context.state, claim.claimant, victim, claim.added);
}

bool may_evict_if_reclaimed(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  const Pod& p = context.problem.pods[pod];
  if (p.status != PodStatus::kRunning || p.gang == claim.claimant || !context.rules.may_evict(p.gang) ||
      context.problem.disruption_budgets.is_pinned(pod))
    return false;
  if (claim.exchange) {
    const Gang& gang = context.problem.gangs[p.gang];
    return claim.mode != PreemptionMode::kSwap && gang.queue == claim.exchange->queue &&
           gang.priority == claim.exchange->priority && p.run_seconds <= claim.exchange->most_seconds;
  }
  if (!context.rules.price().may_claim(claim.claimant, p.gang)) return false;
  return claim.mode == PreemptionMode::kReclaim ||
         (claim.mode == PreemptionMode::kPreempt && context.rules.may_preempt(claim.claimant, p.gang));
}

bool may_evict(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  return may_evict_if_reclaimed(context, claim, pod) && (claim.exchange || claim.mode != PreemptionMode::kReclaim ||
                                                         may_reclaim(context, claim, context.problem.pods[pod].gang));
}

bool may_move(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  return context.problem.pods[pod].gang != claim.claimant && context.rules.may_move(context.state, pod);
}

bool may_be_displaced(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  const Pod& p = context.problem.pods[pod];
  return p.gang != claim.claimant && (fit::is_pending(p) || context.rules.may_move(context.state, pod));
}

void VictimLoss::add(const VictimLoss& other) {
  if (other.priority > priority) {
    *this = other;
  } else if (other.priority == priority) {
    amount += other.amount;
  }
}

void VictimCost::add(const VictimCost& other) {
  share.add(other.share);
  quota.add(other.quota);
  work.add(other.work);
  evicted += other.evicted;
  moved += other.moved;
  excess += other.excess;
  age += other.age;
}

namespace {

// How far the victim's side is above its share, in thousandths of the share: for the resource with the largest excess.
std::int64_t excess_of(const PreemptionContext& context, const Claim& claim, GangIndex victim) {
  const QueueIndex by = context.problem.gangs[claim.claimant].queue, from = context.problem.gangs[victim].queue;
  if (claim.mode != PreemptionMode::kReclaim || by == from) return 0;
  const QueueIndex side = context.rules.sides(by, from).victim;
  double excess = 0;
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (!context.rules.asked_for(claim.claimant)[r]) continue;
    const auto share = static_cast<double>(std::max<Amount>(1, context.rules.shares().share[side][r]));
    excess = std::max(excess, static_cast<double>(context.state.queues().usage()[side][r]) / share);
  }
  return static_cast<std::int64_t>(std::min(excess, 1e6) * 1000);
}

QueueAmounts usage_of_pod(const PreemptionContext& context, PodIndex pod) {
  return queue_usage(context.problem.class_of(pod), context.problem.class_of(context.state.node_of(pod)));
}

}  // namespace

VictimCost eviction_cost(const PreemptionContext& context, const Claim& claim, GangIndex gang_index,
                         std::span<const PodIndex> pods) {
  MUSTER_REQUIRE_SLOW(std::ranges::all_of(pods, [&](PodIndex pod) { return context.state.is_present(pod); }));
  const Gang& gang = context.problem.gangs[gang_index];
  VictimCost cost;
  cost.work.priority = gang.priority;
  QueueAmounts goes{};
  for (const PodIndex pod : pods) {
    const Pod& p = context.problem.pods[pod];
    if (!fit::is_pending(p)) cost.evicted = saturating_add(cost.evicted, evicted_value(p));
    cost.work.amount = saturating_add(cost.work.amount, p.weighted_work);
    const QueueAmounts used = usage_of_pod(context, pod);
    for (std::size_t r = 0; r < kQueueResources; ++r) goes[r] += used[r];
  }
  const VictimCost loss = loss_of_queue(context, gang.queue, gang.priority, goes);
  cost.share = loss.share;
  cost.quota = loss.quota;
  cost.excess = -excess_of(context, claim, gang_index);
  cost.age = gang.times.waited_seconds;
  return cost;
}

// What a queue loses of its usage within its share (or quota): the leaving amount minus its excess; likewise for each
// queue above it. Counted over pods of the victim's priority or more, as the first level that loses counts, else over
// all.
VictimCost loss_of_queue(const PreemptionContext& context, QueueIndex leaf, std::int32_t priority,
                         const QueueAmounts& goes) {
  const Problem& problem = context.problem;
  VictimCost cost;
  // GPUs if there are any, else cpu: the resource in which such work is counted.
  const std::size_t r = goes[kQueueGpu] > 0 ? kQueueGpu : kQueueCpu;
  const auto lost = [&](const auto& bound_of, std::int32_t from) {
    Amount rest = goes[r];
    for (const QueueIndex queue : problem.queues[leaf].ancestors) {
      const Amount bound = bound_of(queue), used = context.state.queues().usage_from(queue, from)[r];
      if (bound != kUnlimited) rest -= std::clamp<Amount>(used - bound, 0, rest);
    }
    const auto total = static_cast<double>(std::max<Amount>(1, problem.total[r]));
    return static_cast<Amount>(static_cast<double>(rest) * 1e6 / total);
  };
  const auto loss = [&](const auto& bound_of) {
    for (const std::int32_t level : {priority, problem.objective.priorities.back()}) {
      if (const Amount amount = lost(bound_of, level); amount > 0) return VictimLoss{level, amount};
    }
    return VictimLoss{};
  };
  cost.share = loss([&](QueueIndex queue) { return context.rules.shares().share[queue][r]; });
  cost.quota = loss([&](QueueIndex queue) { return problem.queues[queue].quota[r]; });
  return cost;
}

std::vector<std::pair<QueueIndex, std::int32_t>> least_losses(const PreemptionContext& context, const Claim& claim) {
  if (claim.exchange) return {{claim.exchange->queue, claim.exchange->priority}};
  std::vector<std::pair<QueueIndex, std::int32_t>> losses;
  const Gang& claimant = context.problem.gangs[claim.claimant];
  const EvictionSurvey& survey = context.rules.survey();
  const auto may_go = [&](QueueIndex queue, GangIndex gang) {
    if (claim.mode != PreemptionMode::kPreempt) return may_reclaim(context, claim, gang);
    return queue == claimant.queue && survey.lowest_running[queue] < claimant.priority;
  };
  for (const auto& [queue, gang] : survey.runs_in) {
    if (!may_go(queue, gang)) continue;
    std::optional<std::int32_t> lowest;
    QueueAmounts above{};
    for (const std::int32_t priority : context.problem.objective.priorities) {
      const QueueAmounts from = context.state.queues().usage_from(queue, priority);
      if (from != above && priority >= survey.lowest_running[queue]) lowest = priority;
      above = from;
    }
    if (lowest) losses.emplace_back(queue, *lowest);
  }
  return losses;
}

namespace {

// What has to leave if this pod is evicted, or gives way: itself if it is surplus, else all of its gang.
std::optional<VictimUnit> whole_or_surplus(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  const ClusterState& state = context.state;
  const GangIndex index = context.problem.pods[pod].gang;
  const Gang& gang = context.problem.gangs[index];
  const bool is_new = fit::is_pending(context.problem.pods[pod]);
  if (!(is_new ? context.ranks.may_give_way(pod, claim) : may_evict(context, claim, pod))) return std::nullopt;
  const auto stays = [&](PodIndex other) {
    return context.problem.pods[other].status == PodStatus::kSucceeded || (other != pod && state.is_present(other));
  };
  std::vector<PodIndex> pods;
  if ((is_new || !gang.leaves_whole) && meets_minimum(context.problem, gang, stays)) {
    pods = {pod};
  } else {
    const auto reason = claim.mode == PreemptionMode::kPreempt ? EvictionReason::kPreempt : EvictionReason::kReclaim;
    if (!is_new && !context.rules.has_run_enough(state, claim.claimant, index, reason)) return std::nullopt;
    for (const PodIndex other : gang.pods) {
      if (!state.is_present(other)) continue;
      // A new pod leaves neither with such as run nor with a minimum that was placed for an earlier level.
      if ((is_new || fit::is_pending(context.problem.pods[other])) && !context.ranks.may_give_way(other, claim))
        return std::nullopt;
      pods.push_back(other);
    }
  }
  if (!is_new && !state.budgets_allow(pods)) return std::nullopt;
  const VictimCost cost = eviction_cost(context, claim, index, pods);
  return VictimUnit{std::move(pods), cost, false};
}

// What has to leave if this pod leaves.
std::optional<VictimUnit> leaving_unit_of(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  const Pod& p = context.problem.pods[pod];
  if (std::ranges::find(claim.relocating, p.gang) != claim.relocating.end()) return std::nullopt;
  if (fit::is_pending(p) || claim.mode != PreemptionMode::kConsolidate) return whole_or_surplus(context, claim, pod);
  return may_move(context, claim, pod) ? std::optional(move_of(context, pod)) : std::nullopt;
}

// A relocated pod, with the minimum cost of the victims that it needs.
std::optional<VictimUnit> displaced_unit_of(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  if (!may_be_displaced(context, claim, pod)) return std::nullopt;
  const Work work = context.problem.pods[pod].weighted_work;
  const QueueAmounts goes = usage_of_pod(context, pod);
  VictimCost least;
  bool is_first = true;
  for (const auto& [queue, priority] : claim.least_losses) {
    VictimCost cost = loss_of_queue(context, queue, priority, goes);
    cost.work = {priority, work};
    least = std::exchange(is_first, false) ? cost : std::min(least, cost);
  }
  least.evicted = saturating_multiply(work, context.rules.survey().mean_run_seconds);
  least.moved = fit::is_pending(context.problem.pods[pod]) ? 0 : work;
  return VictimUnit{{pod}, least, true};
}

// What leaves the node with this pod: what has to leave if it leaves, or itself to be relocated, whichever costs less.
std::optional<VictimUnit> unit_of(const PreemptionContext& context, const Claim& claim, PodIndex pod) {
  std::optional<VictimUnit> leaving = leaving_unit_of(context, claim, pod);
  if (claim.stage != ClaimStage::kDisplacing) return leaving;
  std::optional<VictimUnit> displaced = displaced_unit_of(context, claim, pod);
  return leaving && (!displaced || leaving->cost <= displaced->cost) ? leaving : displaced;
}

}  // namespace

std::vector<VictimUnit> units_on(const PreemptionContext& context, const Claim& claim, NodeIndex node) {
  std::vector<VictimUnit> units;
  std::vector<GroupIndex> whole;
  for (const PodIndex pod : context.state.pods_on(node)) {
    const GroupIndex group = context.problem.pods[pod].group;
    if (std::ranges::find(whole, group) != whole.end()) continue;
    auto unit = unit_of(context, claim, pod);
    if (!unit) continue;
    if (unit->pods.size() > 1) whole.push_back(group);
    units.push_back(*std::move(unit));
  }
  return units;
}

std::vector<VictimUnit> moves_on(const PreemptionContext& context, const Claim& claim, NodeIndex node) {
  std::vector<VictimUnit> units;
  for (const PodIndex pod : context.state.pods_on(node)) {
    if (may_move(context, claim, pod)) units.push_back(move_of(context, pod));
  }
  return units;
}

VictimUnit move_of(const PreemptionContext& context, PodIndex pod) {
  VictimUnit unit{{pod}, {}, true};
  unit.cost.moved = context.problem.pods[pod].weighted_work;
  return unit;
}

std::optional<VictimUnit> cheapest_below(const PreemptionContext& context, const Claim& claim, QueueIndex queue,
                                         ResourceIndex resource) {
  const Problem& problem = context.problem;
  std::optional<VictimUnit> best;
  for (const PodIndex pod : problem.pods.indices()) {
    const Gang& gang = problem.gangs[problem.pods[pod].gang];
    if (!context.state.is_present(pod) || gang.queue.is_none()) continue;
    // A move frees nothing of the queue.
    if (claim.mode == PreemptionMode::kConsolidate && !fit::is_pending(problem.pods[pod])) continue;
    if (!resource.is_none() && problem.class_of(pod).request[resource.value()] == 0) continue;
    const auto& path = problem.queues[gang.queue].ancestors;
    if (!queue.is_none() && std::ranges::find(path, queue) == path.end()) continue;
    auto unit = leaving_unit_of(context, claim, pod);
    if (unit && (!best || unit->cost < best->cost)) best = std::move(unit);
  }
  return best;
}

}  // namespace muster::preemption
