#include "heuristics/preemption/victims/finder.h"

#include <algorithm>
#include <span>
#include <utility>

#include "model/base/saturating.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

// A gang that leaves as a whole is listed once for each of its groups without surplus there; other groups may have
// some.
std::vector<VictimUnit> VictimFinder::units_on(NodeIndex node) const {
  std::vector<VictimUnit> units;
  std::vector<GroupIndex> whole;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (std::ranges::find(whole, problem_.pods[pod].group) != whole.end()) continue;
    auto unit = unit_of(pod);
    if (!unit) continue;
    if (unit->pods.size() > 1) whole.push_back(problem_.pods[pod].group);
    units.push_back(*std::move(unit));
  }
  return units;
}

std::vector<VictimUnit> VictimFinder::moves_on(NodeIndex node) const {
  std::vector<VictimUnit> units;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (auto unit = move_of(pod)) units.push_back(*std::move(unit));
  }
  return units;
}

std::optional<VictimUnit> VictimFinder::cheapest_below(QueueIndex queue, ResourceIndex resource) const {
  std::optional<VictimUnit> best;
  for (const PodIndex pod : problem_.pods.indices()) {
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    if (!state_.is_present(pod) || gang.queue.is_none()) continue;
    // A move frees nothing of the queue.
    if (claim_.mode == PreemptionMode::kConsolidate && !fit::is_pending(problem_.pods[pod])) continue;
    if (!resource.is_none() && problem_.class_of(pod).request[resource.value()] == 0) continue;
    const auto& path = problem_.queues[gang.queue].ancestors;
    if (!queue.is_none() && std::ranges::find(path, queue) == path.end()) continue;
    auto unit = leaving_unit_of(pod);
    if (!unit) continue;
    if (!best || unit->cost < best->cost) best = std::move(unit);
  }
  return best;
}

// What leaves the node with this pod: what has to leave if it leaves, or itself to be relocated, whichever costs less.
std::optional<VictimUnit> VictimFinder::unit_of(PodIndex pod) const {
  std::optional<VictimUnit> leaving = leaving_unit_of(pod);
  if (claim_.stage != ClaimStage::kDisplacing) return leaving;
  std::optional<VictimUnit> displaced = displaced_unit_of(pod);
  return leaving && (!displaced || leaving->cost <= displaced->cost) ? leaving : displaced;
}

// What has to leave if this pod leaves: itself if it is surplus or moved, else all of its gang.
std::optional<VictimUnit> VictimFinder::leaving_unit_of(PodIndex pod) const {
  if (std::ranges::find(protected_, problem_.pods[pod].gang) != protected_.end()) return std::nullopt;
  if (fit::is_pending(problem_.pods[pod])) return new_unit_of(pod);
  if (claim_.mode == PreemptionMode::kConsolidate) return move_of(pod);
  if (!eligibility_.may_evict(pod)) return std::nullopt;
  const GangIndex gang = problem_.pods[pod].gang;
  const bool may_be_surplus = !problem_.gangs[gang].leaves_whole;
  if (may_be_surplus &&
      meets_minimum(problem_, problem_.gangs[gang], [&](PodIndex p) { return stays_without(pod, p); })) {
    if (!state_.budgets_allow({&pod, 1})) return std::nullopt;
    return VictimUnit{{pod}, costs_.of(gang, {&pod, 1}), false};
  }
  const EvictionReason reason =
      claim_.mode == PreemptionMode::kPreempt ? EvictionReason::kPreempt : EvictionReason::kReclaim;
  if (!rules_.has_run_enough(state_, claim_.claimant, gang, reason)) return std::nullopt;
  std::vector<PodIndex> all;
  for (const PodIndex p : problem_.gangs[gang].pods) {
    if (!state_.is_present(p)) continue;
    if (fit::is_pending(problem_.pods[p]) && !eligibility_.may_give_way(p)) return std::nullopt;
    all.push_back(p);
  }
  if (!state_.budgets_allow(all)) return std::nullopt;
  return VictimUnit{all, costs_.of(gang, all), false};
}

// What is taken back with a newly placed pod: the pod itself if it is surplus, else all newly placed pods of its gang.
std::optional<VictimUnit> VictimFinder::new_unit_of(PodIndex pod) const {
  if (!eligibility_.may_give_way(pod)) return std::nullopt;
  const GangIndex gang = problem_.pods[pod].gang;
  if (meets_minimum(problem_, problem_.gangs[gang], [&](PodIndex p) { return stays_without(pod, p); }))
    return VictimUnit{{pod}, costs_.of(gang, {&pod, 1}), false};
  std::vector<PodIndex> all;
  for (const PodIndex p : problem_.gangs[gang].pods) {
    if (!state_.is_present(p)) continue;
    // It has run, too, or its minimum was placed for an earlier level.
    if (!eligibility_.may_give_way(p)) return std::nullopt;
    all.push_back(p);
  }
  return VictimUnit{all, costs_.of(gang, all), false};
}

std::optional<VictimUnit> VictimFinder::move_of(PodIndex pod) const {
  if (!eligibility_.may_move(pod)) return std::nullopt;
  VictimUnit unit{{pod}, {}, true};
  unit.cost.moved = problem_.pods[pod].weighted_work;
  return unit;
}

// A relocated pod, with the minimum cost of the victims that it needs.
std::optional<VictimUnit> VictimFinder::displaced_unit_of(PodIndex pod) const {
  if (!eligibility_.may_be_displaced(pod)) return std::nullopt;
  const Work work = problem_.pods[pod].weighted_work;
  const QueueAmounts goes = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
  VictimCost least;
  bool is_first = true;
  for (const auto& [queue, priority] : losses_.of_queues()) {
    VictimCost cost = costs_.loss_of(queue, priority, goes);
    cost.work = {priority, work};
    least = std::exchange(is_first, false) ? cost : std::min(least, cost);
  }
  least.evicted = saturating_multiply(work, rules_.survey().mean_run_seconds);
  least.moved = fit::is_pending(problem_.pods[pod]) ? 0 : work;
  return VictimUnit{{pod}, least, true};
}

}  // namespace muster::preemption
