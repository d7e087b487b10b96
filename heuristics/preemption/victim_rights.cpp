#include "heuristics/preemption/victim_rights.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "heuristics/preemption/victims/put_back.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/staying.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

bool VictimRights::settle() {
  bool any = false;
  // What gives way may have been the reason for other evictions; each round leaves fewer pods placed, or places of
  // equal pods exchanged on nodes that others do not leave.
  for (bool again = true; again;) {
    again = false;
    read_evictions();
    for (const Unit& unit : units_) again = settle(unit) || again;
    any = any || again;
  }
  for (const GangIndex gang : std::exchange(gave_way_, {})) {
    const auto before = state_.checkpoint();
    const bool is_placed = inputs_.placer.may_place(gang) && !is_satisfied(state_, gang) &&
                           check_.min_resources_hold(gang) && inputs_.placer.place_minimum(gang);
    if (is_placed && !check_.rules_hold()) state_.rollback(before);
  }
  return any;
}

void VictimRights::read_evictions() {
  units_.clear();
  moved_for_.clear();
  rights_.clear();
  std::map<GangIndex, std::vector<PodIndex>> lost;
  for (const PlannedEviction& eviction : ledger_.evictions()) {
    if (eviction.reason == EvictionReason::kStale) continue;
    if (state_.is_present(eviction.pod)) {
      moved_for_.emplace(eviction.pod, eviction.for_gang);
    } else {
      lost[problem_.pods[eviction.pod].gang].push_back(eviction.pod);
    }
  }
  for (auto& [gang, pods] : lost) {
    if (!is_satisfied(state_, gang)) {
      units_.push_back({gang, std::move(pods)});
      continue;
    }
    for (const PodIndex pod : pods) units_.push_back({gang, {pod}});
  }
}

// Whether anything has changed.
bool VictimRights::settle(const Unit& unit) {
  const auto is_away = [&](PodIndex pod) { return !state_.is_present(pod); };
  if (!std::ranges::all_of(unit.pods, is_away) || !has_room(unit)) return false;
  const std::vector<PodIndex> others = others_on_nodes_of(unit);
  for (const PodIndex other : others) {
    const auto before = state_.checkpoint();
    if (change_places(unit, other) && !has_room(unit)) return true;
    state_.rollback(before);
  }
  std::vector<GangIndex> near;
  for (const PodIndex other : others) near.push_back(problem_.pods[other].gang);
  return give_back(unit, near) || give_back(unit, gangs_without_right(unit));
}

bool VictimRights::is_protected(const Unit& unit, GangIndex claimant, EvictionReason reason) const {
  const Nanoseconds least = inputs_.rules.min_runtime(claimant, unit.gang, reason);
  const auto is_young = [&](PodIndex pod) {
    return problem_.pods[pod].run_time < least && std::ranges::find(unit.pods, pod) != unit.pods.end();
  };
  if (least <= 0 || std::ranges::none_of(unit.pods, is_young) || is_satisfied(state_, unit.gang)) return false;
  return !meets_minimum(problem_, problem_.gangs[unit.gang], [&](PodIndex pod) {
    const PodStatus status = problem_.pods[pod].status;
    return status == PodStatus::kSucceeded || (status == PodStatus::kRunning && !is_young(pod));
  });
}

bool VictimRights::may_evict(const Unit& unit, GangIndex claimant) const {
  const Actions& actions = problem_.snapshot->policy.actions;
  const auto is_new = [&](PodIndex pod) { return fit::is_pending(problem_.pods[pod]) && state_.is_present(pod); };
  if (std::ranges::none_of(problem_.gangs[claimant].pods, is_new)) return false;
  if (actions.preempt && inputs_.rules.may_preempt(claimant, unit.gang) &&
      !is_protected(unit, claimant, EvictionReason::kPreempt))
    return true;
  return actions.reclaim && inputs_.rules.has_reclaimed_by_right(state_, claimant, unit.gang) &&
         !is_protected(unit, claimant, EvictionReason::kReclaim);
}

bool VictimRights::has_right(const Unit& unit, GangIndex claimant) const {
  if (claimant.is_none()) return false;
  const auto [known, is_new] = rights_.try_emplace({unit.gang, claimant}, false);
  if (is_new) known->second = may_evict(unit, claimant);
  return known->second;
}

bool VictimRights::is_arrival(const Unit& unit, PodIndex pod) const {
  return (fit::is_pending(problem_.pods[pod]) || !is_home(state_, pod)) &&
         std::ranges::find(unit.pods, pod) == unit.pods.end();
}

// Whether the arrived pod was placed, or moved, for a gang that may evict the unit.
bool VictimRights::counts(const Unit& unit, PodIndex arrival) const {
  const auto moved = moved_for_.find(arrival);
  return has_right(unit, moved == moved_for_.end() ? problem_.pods[arrival].gang : moved->second);
}

std::vector<PodIndex> VictimRights::others_on_nodes_of(const Unit& unit) const {
  std::set<NodeIndex> nodes;
  std::vector<PodIndex> others;
  for (const PodIndex pod : unit.pods) {
    const NodeIndex node = problem_.pods[pod].node;
    if (!nodes.insert(node).second) continue;
    std::ranges::copy_if(state_.pods_on(node), std::back_inserter(others),
                         [&](PodIndex other) { return is_arrival(unit, other) && !counts(unit, other); });
  }
  return others;
}

// Where it was, next to what stays and to the arrivals that count, wherever on its nodes these take their devices.
bool VictimRights::has_room(const Unit& unit) {
  const auto before = state_.checkpoint();
  for (const PodIndex other : others_on_nodes_of(unit)) state_.take(other);
  const bool fits = std::ranges::all_of(unit.pods, [&](PodIndex pod) {
    if (!has_room_at_home(state_, pod) && !fits_with_other_devices(unit, pod)) return false;
    const Place home = snapshot_place(problem_, pod);
    if (!state_.is_present(pod)) state_.put(pod, home.node, home.devices);
    return true;
  });
  state_.rollback(before);
  return fits;
}

// Puts the pod at home, and then the arrivals of its node that have devices on others: those that take most of one
// first, each on the fullest with room for it. False: the state is to be rolled back.
bool VictimRights::fits_with_other_devices(const Unit& unit, PodIndex pod) {
  const Place home = snapshot_place(problem_, pod);
  const NodeClass& node_class = problem_.class_of(home.node);
  const auto units_of = [&](PodIndex other) { return share_units(problem_.class_of(other), node_class); };
  if (home.devices.empty()) return false;
  std::vector<PodIndex> arrivals;
  for (const PodIndex other : state_.pods_on(home.node)) {
    if (is_arrival(unit, other) && problem_.class_of(other).gpu.devices > 0) arrivals.push_back(other);
  }
  for (const PodIndex other : arrivals) state_.take(other);
  if (!has_room_at_home(state_, pod)) return false;
  state_.put(pod, home.node, home.devices);
  std::ranges::sort(arrivals,
                    [&](PodIndex a, PodIndex b) { return std::pair(-units_of(a), a) < std::pair(-units_of(b), b); });
  return std::ranges::all_of(arrivals, [&](PodIndex other) {
    const PodClass& pod_class = problem_.class_of(other);
    if (!fit::capacity(room_of(state_, home.node), pod_class)) return false;
    const auto free = state_.free_devices(home.node);
    std::vector<std::int32_t> open;
    for (std::size_t device = 0; device < free.size(); ++device) {
      if (free[device] >= units_of(other)) open.push_back(static_cast<std::int32_t>(device));
    }
    if (std::ssize(open) < pod_class.gpu.devices) return false;
    std::ranges::stable_sort(open, {}, [&](std::int32_t device) { return free[static_cast<std::size_t>(device)]; });
    open.resize(static_cast<std::size_t>(pod_class.gpu.devices));
    std::ranges::sort(open);
    state_.put(other, home.node, DeviceList(open));
    return true;
  });
}

// Nothing but capacity and filters, which equal pods share, depends on which of the two is where.
bool VictimRights::is_free_to_change(PodIndex pod) const {
  const PodClass& pod_class = problem_.class_of(pod);
  if (!fit::is_pending(problem_.pods[pod]) || pod_class.has_ordered_rules() || !pod_class.anti_affinity_owned.empty() ||
      !pod_class.anti_affinity_matched.empty())
    return false;
  const auto is_bound = [&](GroupIndex group) { return !problem_.groups[group].required_level.is_none(); };
  return std::ranges::none_of(problem_.gangs[problem_.pods[pod].gang].groups, is_bound);
}

// With an equal pod of a gang that may evict the unit, from a node that no pod leaves.
bool VictimRights::change_places(const Unit& unit, PodIndex other) {
  if (!is_free_to_change(other)) return false;
  std::set<NodeIndex> left;
  for (const PlannedEviction& eviction : ledger_.evictions()) left.insert(problem_.pods[eviction.pod].node);
  for (const PodIndex pod : problem_.pods.indices()) {
    if (problem_.pods[pod].pod_class != problem_.pods[other].pod_class || !state_.is_present(pod) ||
        !is_free_to_change(pod) || left.contains(state_.node_of(pod)) || !has_right(unit, problem_.pods[pod].gang))
      continue;
    const Place here = state_.place_of(other), there = state_.place_of(pod);
    state_.take(other);
    state_.take(pod);
    state_.put(pod, here.node, here.devices);
    state_.put(other, there.node, there.devices);
    return true;
  }
  return false;
}

std::vector<GangIndex> VictimRights::gangs_without_right(const Unit& unit) const {
  std::vector<GangIndex> gangs;
  for (const GangIndex gang : problem_.gangs.indices()) {
    const auto is_new = [&](PodIndex pod) { return fit::is_pending(problem_.pods[pod]) && state_.is_present(pod); };
    if (std::ranges::any_of(problem_.gangs[gang].pods, is_new) && !has_right(unit, gang)) gangs.push_back(gang);
  }
  return gangs;
}

void VictimRights::give_way(GangIndex gang) {
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    if (fit::is_pending(problem_.pods[pod]) && state_.is_present(pod)) state_.take(pod);
  }
}

// Puts the unit back where it was once these gangs have given way, and what was moved there for others; or changes
// nothing.
bool VictimRights::give_back(const Unit& unit, const std::vector<GangIndex>& giving_way) {
  const auto before = state_.checkpoint();
  for (const GangIndex gang : giving_way) give_way(gang);
  const auto comes_back = [&](PodIndex pod) {
    return put_back(state_, inputs_.bounds, pod) ||
           (fits_with_other_devices(unit, pod) && (state_.take(pod), put_back(state_, inputs_.bounds, pod)));
  };
  if (std::ranges::all_of(unit.pods, comes_back) && check_.rules_hold()) {
    gave_way_.insert(gave_way_.end(), giving_way.begin(), giving_way.end());
    return true;
  }
  state_.rollback(before);
  return false;
}

}  // namespace muster::preemption
