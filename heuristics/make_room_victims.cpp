// Who may go for a claim, together with whom, and what that costs by the levels.
#include <algorithm>

#include "heuristics/make_room.h"
#include "model/gang_tree.h"

namespace muster {

// Whether the pod would fit if all that may go (or be moved) of the node went: a quick look before the search.
bool RoomSearch::could_clear(PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = problem_.class_of(pod);
  const auto free = state_.free(node);
  const auto devices = state_.free_devices(node);
  clear_free_.assign(free.begin(), free.end());
  clear_devices_.assign(devices.begin(), devices.end());
  const bool may_move = means_ != Means::kSwap && problem_.snapshot->policy.actions.consolidate;
  bool any = false;
  for (const PodIndex other : state_.pods_on(node)) {
    const GangIndex gang = problem_.pods[other].gang;
    if (gang == claimant_) continue;
    const bool goes = is_fresh(other) ? may_give_way(other)
                                      : (may_move && problem_.gangs[gang].preemptible) || is_legal_at_first(other);
    if (!goes) continue;
    any = true;
    const PodClass& other_class = problem_.class_of(other);
    for (std::size_t r = 0; r < clear_free_.size(); ++r) clear_free_[r] += other_class.request[r];
    const auto& held = state_.place_of(other).devices;
    const DeviceUnits units = held.empty() ? 0 : share_units(other_class, problem_.class_of(node));
    for (const std::int32_t device : held) clear_devices_[static_cast<std::size_t>(device)] += units;
  }
  const Room room{clear_free_, clear_devices_};
  return any && fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

// A gang that goes whole is listed once for each of its groups that has no surplus there; other groups may have some.
std::vector<RoomSearch::Unit> RoomSearch::units_on(NodeIndex node) const {
  std::vector<Unit> units;
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

std::vector<RoomSearch::Unit> RoomSearch::moves_on(NodeIndex node) const {
  std::vector<Unit> units;
  for (const PodIndex pod : state_.pods_on(node)) {
    if (auto unit = move_of(pod)) units.push_back(*std::move(unit));
  }
  return units;
}

// Whether a running pod may be evicted for the claimant.
bool RoomSearch::is_legal(PodIndex pod) const {
  const GangIndex gang = problem_.pods[pod].gang;
  if (problem_.pods[pod].status != PodStatus::kRunning || gang == claimant_ || !rules_.may_evict(gang)) return false;
  if (means_ == Means::kPreempt) return rules_.may_preempt(claimant_, gang);
  return means_ == Means::kReclaim && rules_.may_reclaim(state_, claimant_, gang) &&
         rules_.claims_within_share(state_, claimant_, gang, added_);
}

// The same as things stood when the look at the nodes began. Who may be reclaimed depends on the queue alone.
bool RoomSearch::is_legal_at_first(PodIndex pod) {
  const GangIndex gang = problem_.pods[pod].gang;
  if (means_ != Means::kReclaim) return is_legal(pod);
  if (problem_.pods[pod].status != PodStatus::kRunning || gang == claimant_ || !rules_.may_evict(gang)) return false;
  std::int8_t& known = may_take_from_[problem_.gangs[gang].queue];
  if (known < 0) known = is_legal(pod) ? 1 : 0;
  return known > 0;
}

// Whether a pod that has been newly placed may be taken back: it was placed for a later level, and nobody was evicted
// for it.
bool RoomSearch::may_give_way(PodIndex pod) const {
  const GangIndex gang = problem_.pods[pod].gang;
  return is_fresh(pod) && gang != claimant_ && placed_rank_[pod] > rank_ && !has_victims_[gang.value()];
}

std::optional<RoomSearch::Unit> RoomSearch::move_of(PodIndex pod) const {
  if (problem_.pods[pod].gang == claimant_ || !rules_.may_move(state_, pod)) return std::nullopt;
  Unit unit{{pod}, {}, true};
  unit.cost.moved = problem_.pods[pod].weighted_work;
  return unit;
}

// What is taken back with a newly placed pod: itself where it is surplus, else all of its gang that is newly placed.
std::optional<RoomSearch::Unit> RoomSearch::fresh_unit_of(PodIndex pod) const {
  if (!may_give_way(pod)) return std::nullopt;
  const GangIndex gang_index = problem_.pods[pod].gang;
  const Gang& gang = problem_.gangs[gang_index];
  const auto stays = [&](PodIndex p) {
    return problem_.pods[p].status == PodStatus::kSucceeded || (p != pod && state_.is_present(p));
  };
  if (meets_minimum(problem_, gang, stays)) return Unit{{pod}, cost_of(gang_index, {pod}), false};
  std::vector<PodIndex> all;
  for (const PodIndex p : gang.pods) {
    if (!state_.is_present(p)) continue;
    if (!may_give_way(p)) return std::nullopt;  // it has run, too, or its minimum was placed for an earlier level
    all.push_back(p);
  }
  return Unit{all, cost_of(gang_index, all), false};
}

// What has to go if this pod goes: itself where it is surplus or moved, else all of its gang.
std::optional<RoomSearch::Unit> RoomSearch::unit_of(PodIndex pod) const {
  if (is_fresh(pod)) return fresh_unit_of(pod);
  if (means_ == Means::kConsolidate) return move_of(pod);
  if (!is_legal(pod)) return std::nullopt;
  const GangIndex gang_index = problem_.pods[pod].gang;
  const Gang& gang = problem_.gangs[gang_index];
  const auto stays = [&](PodIndex p) {
    return problem_.pods[p].status == PodStatus::kSucceeded || (p != pod && state_.is_present(p));
  };
  if (meets_minimum(problem_, gang, stays)) return Unit{{pod}, cost_of(gang_index, {pod}), false};
  const EvictionReason reason = means_ == Means::kPreempt ? EvictionReason::kPreempt : EvictionReason::kReclaim;
  if (!rules_.has_run_enough(state_, claimant_, gang_index, reason)) return std::nullopt;
  std::vector<PodIndex> all;
  for (const PodIndex p : gang.pods) {
    if (!state_.is_present(p)) continue;
    if (is_fresh(p) && !may_give_way(p)) return std::nullopt;
    all.push_back(p);
  }
  return Unit{all, cost_of(gang_index, all), false};
}

// Of usage within its share (or quota) a queue loses what goes beyond what it has too much, and so does each queue
// above it: of what has the victim's priority or more, which is what the first level that loses counts, else of all.
RoomSearch::Cost RoomSearch::cost_of(GangIndex gang_index, const std::vector<PodIndex>& pods) const {
  const Gang& gang = problem_.gangs[gang_index];
  Cost cost;
  cost.work.priority = gang.priority;
  QueueAmounts goes{};
  for (const PodIndex pod : pods) {
    const Pod& p = problem_.pods[pod];
    if (!is_fresh(pod)) cost.evicted += p.weighted_work * p.run_seconds;
    cost.work.amount += p.weighted_work;
    const QueueAmounts used = queue_usage(problem_.class_of(pod), problem_.class_of(state_.place_of(pod).node));
    for (std::size_t r = 0; r < kQueueResources; ++r) goes[r] += used[r];
  }
  // GPUs where there are any, else cpu: the resource in which such work is counted.
  const std::size_t r = goes[kQueueGpu] > 0 ? kQueueGpu : kQueueCpu;
  const auto lost = [&](const auto& bound_of, std::int32_t from) {
    Amount rest = goes[r];
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      const Amount bound = bound_of(queue);
      if (bound != kUnlimited) rest -= std::clamp<Amount>(state_.usage_from(queue, from)[r] - bound, 0, rest);
    }
    const auto total = static_cast<double>(std::max<Amount>(1, problem_.total[r]));
    return static_cast<Amount>(static_cast<double>(rest) * 1e6 / total);
  };
  const auto loss = [&](const auto& bound_of) {
    for (const std::int32_t level : {gang.priority, problem_.priorities.back()}) {
      if (const Amount amount = lost(bound_of, level); amount > 0) return Loss{level, amount};
    }
    return Loss{};
  };
  cost.share = loss([&](QueueIndex queue) { return shares_.share[queue][r]; });
  cost.quota = loss([&](QueueIndex queue) { return problem_.queues[queue].quota[r]; });
  cost.excess = -excess_of(gang_index);
  cost.age = gang.waited_seconds;
  return cost;
}

// How far the victim's side is above its share, in thousandths of the share: of the resource where that is most.
std::int64_t RoomSearch::excess_of(GangIndex victim) const {
  if (means_ != Means::kReclaim || problem_.gangs[claimant_].queue == problem_.gangs[victim].queue) return 0;
  const QueueIndex side = rules_.sides(problem_.gangs[claimant_].queue, problem_.gangs[victim].queue).victim;
  double excess = 0;
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (!rules_.asked_for(claimant_)[r]) continue;
    const auto share = static_cast<double>(std::max<Amount>(1, shares_.share[side][r]));
    excess = std::max(excess, static_cast<double>(state_.usage()[side][r]) / share);
  }
  return static_cast<std::int64_t>(std::min(excess, 1e6) * 1000);
}

void RoomSearch::Loss::add(const Loss& other) {
  if (other.priority > priority) {
    *this = other;
  } else if (other.priority == priority) {
    amount += other.amount;
  }
}

void RoomSearch::Cost::add(const Cost& other) {
  share.add(other.share);
  quota.add(other.quota);
  work.add(other.work);
  evicted += other.evicted;
  moved += other.moved;
  excess += other.excess;
  age += other.age;
}

}  // namespace muster
