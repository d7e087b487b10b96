#include "heuristics/preemption/victim_rights.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "heuristics/preemption/victims/put_back.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/staying.h"
#include "model/problem/exceeded.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

bool VictimRights::settle() {
  bool any = false;
  // What gives way may have been the reason for other evictions; each round leaves fewer pods placed, or places of
  // equal pods exchanged on nodes that others do not leave.
  for (bool again = true; again;) {
    again = false;
    read_evictions();
    for (const auto& [pod, claimant] : moved_for_) again = bring_home(pod) || again;
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
  units_by_node_.clear();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (const PodIndex pod : units_[i].pods) {
      std::vector<std::size_t>& here = units_by_node_[problem_.pods[pod].node];
      if (here.empty() || here.back() != i) here.push_back(i);
    }
  }
}

// Whether anything has changed. The devices of what arrived there may have been the only obstacle.
bool VictimRights::bring_home(PodIndex moved) {
  if (!state_.is_present(moved) || is_home(state_, moved) || problem_.devices_of(moved).empty()) return false;
  const auto before = state_.checkpoint();
  state_.take(moved);
  if (fits_with_other_devices({problem_.pods[moved].gang, {moved}}, moved)) {
    state_.take(moved);
    if (put_back(state_, inputs_.bounds, moved) && check_.rules_hold()) return true;
  }
  state_.rollback(before);
  return false;
}

// Whether anything has changed.
bool VictimRights::settle(const Unit& unit) {
  const auto is_away = [&](PodIndex pod) { return !state_.is_present(pod); };
  if (!std::ranges::all_of(unit.pods, is_away) || !has_room(unit)) return false;
  const std::vector<PodIndex> others = others_on_nodes_of(unit);
  for (const PodIndex other : others) {
    if (change_places(unit, other)) return true;
  }
  std::set<GangIndex> near;
  for (const PodIndex other : others) near.merge(claimants_of(other));
  return give_back(unit, {near.begin(), near.end()}) || give_back(unit, gangs_without_right(unit));
}

bool VictimRights::is_protected(const Unit& unit, PodIndex pod, GangIndex claimant, EvictionReason reason) const {
  const Nanoseconds least = inputs_.rules.min_runtime(claimant, unit.gang, reason);
  if (problem_.pods[pod].run_time >= least || is_satisfied(state_, unit.gang)) return false;
  const auto is_young = [&](PodIndex other) {
    return problem_.pods[other].run_time < least && std::ranges::find(unit.pods, other) != unit.pods.end();
  };
  return !meets_minimum(problem_, problem_.gangs[unit.gang], [&](PodIndex other) {
    const PodStatus status = problem_.pods[other].status;
    return status == PodStatus::kSucceeded || (status == PodStatus::kRunning && !is_young(other));
  });
}

bool VictimRights::may_evict(const Unit& unit, PodIndex pod, GangIndex claimant) const {
  const Actions& actions = problem_.snapshot->policy.actions;
  const auto is_new = [&](PodIndex other) { return fit::is_pending(problem_.pods[other]) && state_.is_present(other); };
  if (std::ranges::none_of(problem_.gangs[claimant].pods, is_new)) return false;
  if (actions.preempt && inputs_.rules.may_preempt(claimant, unit.gang) &&
      !is_protected(unit, pod, claimant, EvictionReason::kPreempt))
    return true;
  return actions.reclaim && inputs_.rules.has_reclaimed_by_right(state_, claimant, unit.gang) &&
         !is_protected(unit, pod, claimant, EvictionReason::kReclaim);
}

bool VictimRights::has_right(const Unit& unit, PodIndex pod, GangIndex claimant) const {
  if (claimant == unit.gang) return true;
  if (claimant.is_none()) return false;
  const auto [known, is_new] = rights_.try_emplace({pod, claimant}, false);
  if (is_new) known->second = may_evict(unit, pod, claimant);
  return known->second;
}

bool VictimRights::has_right(const Unit& unit, GangIndex claimant) const {
  return std::ranges::any_of(unit.pods, [&](PodIndex pod) { return has_right(unit, pod, claimant); });
}

bool VictimRights::is_arrival(const Unit& unit, PodIndex pod) const {
  return (fit::is_pending(problem_.pods[pod]) || !is_home(state_, pod)) &&
         std::ranges::find(unit.pods, pod) == unit.pods.end();
}

// For which an arrived pod is placed: its own gang, if it waited; if it is moved, those that were put on the node that
// it left, in the end; if there are none, the one that the move names.
std::set<GangIndex> VictimRights::claimants_of(PodIndex arrival) const {
  std::set<GangIndex> gangs;
  std::set<PodIndex> seen;
  add_claimants(arrival, gangs, seen);
  if (const auto moved = moved_for_.find(arrival); gangs.empty() && moved != moved_for_.end())
    gangs.insert(moved->second);
  return gangs;
}

void VictimRights::add_claimants(PodIndex arrival, std::set<GangIndex>& gangs, std::set<PodIndex>& seen) const {
  if (!seen.insert(arrival).second) return;
  if (fit::is_pending(problem_.pods[arrival])) {
    gangs.insert(problem_.pods[arrival].gang);
    return;
  }
  for (const PodIndex other : state_.pods_on(problem_.pods[arrival].node)) {
    if (fit::is_pending(problem_.pods[other]) || !is_home(state_, other)) add_claimants(other, gangs, seen);
  }
}

// Whether the arrived pod was placed for a gang that may evict one of the unit's pods that ran there.
bool VictimRights::counts(const Unit& unit, PodIndex arrival) const {
  const NodeIndex node = state_.node_of(arrival);
  const auto ran_there = [&](PodIndex pod) { return problem_.pods[pod].node == node; };
  if (fit::is_pending(problem_.pods[arrival])) {
    const GangIndex claimant = problem_.pods[arrival].gang;
    return std::ranges::any_of(unit.pods,
                               [&](PodIndex pod) { return ran_there(pod) && has_right(unit, pod, claimant); });
  }
  const std::set<GangIndex> claimants = claimants_of(arrival);
  return std::ranges::any_of(unit.pods, [&](PodIndex pod) {
    return ran_there(pod) &&
           std::ranges::any_of(claimants, [&](GangIndex claimant) { return has_right(unit, pod, claimant); });
  });
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

// Whether neither the node nor, if nothing there shares devices, its idle devices have room for the pod.
bool VictimRights::is_surely_out(PodIndex pod) const {
  const NodeIndex node = problem_.pods[pod].node;
  const PodClass& pod_class = problem_.class_of(pod);
  if (is_exceeded(problem_.class_of(node)) || state_.is_present(pod)) return false;
  if (!fit::capacity(room_of(state_, node), pod_class)) return true;
  const auto shares = [&](PodIndex other) {
    const GpuRequest& gpu = problem_.class_of(other).gpu;
    return gpu.devices > 0 && gpu.kind != GpuRequestKind::kWhole;
  };
  return state_.idle_devices(node) < pod_class.gpu.devices && pod_class.gpu.kind == GpuRequestKind::kWhole &&
         std::ranges::none_of(state_.pods_on(node), shares);
}

// Where it was, next to what stays and to the arrivals that count, wherever on its nodes these take their devices.
bool VictimRights::has_room(const Unit& unit) {
  const std::vector<PodIndex> others = others_on_nodes_of(unit);
  if (others.empty() && std::ranges::any_of(unit.pods, [&](PodIndex pod) { return is_surely_out(pod); })) return false;
  const auto before = state_.checkpoint();
  for (const PodIndex other : others) state_.take(other);
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

// With an equal pod of a gang that may evict the unit, if then the unit has to leave, and so have those that did before
// on the node of the equal pod. Pods on nodes that no pod leaves come first.
bool VictimRights::change_places(const Unit& unit, PodIndex other) {
  if (!is_free_to_change(other)) return false;
  std::vector<PodIndex> equal;
  for (const PodIndex pod : problem_.pods.indices()) {
    if (problem_.pods[pod].pod_class == problem_.pods[other].pod_class && state_.is_present(pod) &&
        state_.node_of(pod) != state_.node_of(other) && is_free_to_change(pod) &&
        has_right(unit, problem_.pods[pod].gang))
      equal.push_back(pod);
  }
  std::ranges::stable_partition(equal, [&](PodIndex pod) { return units_on(state_.node_of(pod)).empty(); });
  for (const PodIndex pod : equal) {
    const auto before = state_.checkpoint();
    const Place here = state_.place_of(other), there = state_.place_of(pod);
    std::vector<const Unit*> leaving = units_on(there.node);
    std::erase_if(leaving, [&](const Unit* one) { return has_room(*one); });
    state_.take(other);
    state_.take(pod);
    state_.put(pod, here.node, here.devices);
    state_.put(other, there.node, there.devices);
    if (!has_room(unit) && std::ranges::none_of(leaving, [&](const Unit* one) { return has_room(*one); })) return true;
    state_.rollback(before);
  }
  return false;
}

// That have left it, with pods of them on other nodes or not.
std::vector<const VictimRights::Unit*> VictimRights::units_on(NodeIndex node) const {
  std::vector<const Unit*> units;
  const auto found = units_by_node_.find(node);
  if (found == units_by_node_.end()) return units;
  for (const std::size_t position : found->second) units.push_back(&units_[position]);
  return units;
}

std::vector<GangIndex> VictimRights::gangs_without_right(const Unit& unit) const {
  std::vector<GangIndex> gangs;
  for (const GangIndex gang : problem_.gangs.indices()) {
    const auto is_new = [&](PodIndex pod) { return fit::is_pending(problem_.pods[pod]) && state_.is_present(pod); };
    if (std::ranges::any_of(problem_.gangs[gang].pods, is_new) && !has_right(unit, gang)) gangs.push_back(gang);
  }
  return gangs;
}

// Takes its new pods away; what was moved for it alone goes home. False: that does not fit.
bool VictimRights::give_way(const std::vector<GangIndex>& gangs) {
  std::vector<PodIndex> moved;
  for (const auto& [pod, claimant] : moved_for_) {
    if (!state_.is_present(pod) || is_home(state_, pod)) continue;
    const auto gives_way = [&](GangIndex gang) { return std::ranges::find(gangs, gang) != gangs.end(); };
    if (std::ranges::all_of(claimants_of(pod), gives_way)) moved.push_back(pod);
  }
  for (const GangIndex gang : gangs) {
    for (const PodIndex pod : problem_.gangs[gang].pods) {
      if (fit::is_pending(problem_.pods[pod]) && state_.is_present(pod)) state_.take(pod);
    }
  }
  for (const PodIndex pod : moved) state_.take(pod);
  return std::ranges::all_of(moved, [&](PodIndex pod) { return put_back(state_, inputs_.bounds, pod); });
}

// Puts the unit back where it was once these gangs have given way, or changes nothing.
bool VictimRights::give_back(const Unit& unit, const std::vector<GangIndex>& giving_way) {
  const auto before = state_.checkpoint();
  const auto comes_back = [&](PodIndex pod) {
    return put_back(state_, inputs_.bounds, pod) ||
           (fits_with_other_devices(unit, pod) && (state_.take(pod), put_back(state_, inputs_.bounds, pod)));
  };
  if (give_way(giving_way) && std::ranges::all_of(unit.pods, comes_back) && check_.rules_hold()) {
    gave_way_.insert(gave_way_.end(), giving_way.begin(), giving_way.end());
    return true;
  }
  state_.rollback(before);
  return false;
}

}  // namespace muster::preemption
