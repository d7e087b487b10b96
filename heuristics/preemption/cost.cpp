#include "heuristics/preemption/cost.h"

#include <algorithm>
#include <optional>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

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

VictimCost VictimCosts::of(GangIndex gang_index, std::span<const PodIndex> pods) const {
  MUSTER_REQUIRE_SLOW(std::ranges::all_of(pods, [&](PodIndex pod) { return state_.is_present(pod); }));
  const Gang& gang = problem_.gangs[gang_index];
  VictimCost cost;
  cost.work.priority = gang.priority;
  QueueAmounts goes{};
  for (const PodIndex pod : pods) {
    const Pod& p = problem_.pods[pod];
    if (!fit::is_pending(p)) cost.evicted = saturating_add(cost.evicted, evicted_value(p));
    cost.work.amount = saturating_add(cost.work.amount, p.weighted_work);
    const QueueAmounts used = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
    for (std::size_t r = 0; r < kQueueResources; ++r) goes[r] += used[r];
  }
  const VictimCost loss = loss_of(gang.queue, gang.priority, goes);
  cost.share = loss.share;
  cost.quota = loss.quota;
  cost.excess = -excess_of(gang_index);
  cost.age = gang.times.waited_seconds;
  return cost;
}

// What a queue loses of its usage within its share (or quota): the leaving amount minus its excess; likewise for each
// queue above it. Counted over pods of the victim's priority or more, as the first level that loses counts, else over
// all.
VictimCost VictimCosts::loss_of(QueueIndex leaf, std::int32_t priority, const QueueAmounts& goes) const {
  VictimCost cost;
  // GPUs if there are any, else cpu: the resource in which such work is counted.
  const std::size_t r = goes[kQueueGpu] > 0 ? kQueueGpu : kQueueCpu;
  const auto lost = [&](const auto& bound_of, std::int32_t from) {
    Amount rest = goes[r];
    for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
      const Amount bound = bound_of(queue);
      if (bound != kUnlimited) rest -= std::clamp<Amount>(state_.queues().usage_from(queue, from)[r] - bound, 0, rest);
    }
    const auto total = static_cast<double>(std::max<Amount>(1, problem_.total[r]));
    return static_cast<Amount>(static_cast<double>(rest) * 1e6 / total);
  };
  const auto loss = [&](const auto& bound_of) {
    for (const std::int32_t level : {priority, problem_.objective.priorities.back()}) {
      if (const Amount amount = lost(bound_of, level); amount > 0) return VictimLoss{level, amount};
    }
    return VictimLoss{};
  };
  cost.share = loss([&](QueueIndex queue) { return shares_.share[queue][r]; });
  cost.quota = loss([&](QueueIndex queue) { return problem_.queues[queue].quota[r]; });
  return cost;
}

// How far the victim's side is above its share, in thousandths of the share: for the resource with the largest excess.
std::int64_t VictimCosts::excess_of(GangIndex victim) const {
  if (claim_.mode != PreemptionMode::kReclaim || problem_.gangs[claim_.claimant].queue == problem_.gangs[victim].queue)
    return 0;
  const QueueIndex side = rules_.sides(problem_.gangs[claim_.claimant].queue, problem_.gangs[victim].queue).victim;
  double excess = 0;
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (!rules_.asked_for(claim_.claimant)[r]) continue;
    const auto share = static_cast<double>(std::max<Amount>(1, shares_.share[side][r]));
    excess = std::max(excess, static_cast<double>(state_.queues().usage()[side][r]) / share);
  }
  return static_cast<std::int64_t>(std::min(excess, 1e6) * 1000);
}

void LeastLosses::find() {
  losses_.clear();
  if (claim_.exchange) {
    losses_.emplace_back(claim_.exchange->queue, claim_.exchange->priority);
    return;
  }
  const Gang& claimant = problem_.gangs[claim_.claimant];
  const auto may_go = [&](QueueIndex queue, GangIndex gang) {
    if (claim_.mode == PreemptionMode::kPreempt)
      return queue == claimant.queue && rules_.survey().lowest_running[queue] < claimant.priority;
    return eligibility_.may_reclaim(gang);
  };
  for (const auto& [queue, gang] : rules_.survey().runs_in) {
    if (!may_go(queue, gang)) continue;
    std::optional<std::int32_t> lowest;
    QueueAmounts above{};
    for (const std::int32_t priority : problem_.objective.priorities) {
      const QueueAmounts from = state_.queues().usage_from(queue, priority);
      if (from != above && priority >= rules_.survey().lowest_running[queue]) lowest = priority;
      above = from;
    }
    if (lowest) losses_.emplace_back(queue, *lowest);
  }
}

bool LeastLosses::contains(QueueIndex queue, std::int32_t priority) const {
  return std::ranges::find(losses_, std::pair(queue, priority)) != losses_.end();
}

}  // namespace muster::preemption
