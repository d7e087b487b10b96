#include "heuristics/preemption/evicted_units.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/problem/exceeded.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

bool is_new(const ClusterState& state, PodIndex pod) {
  return fit::is_pending(state.problem().pods[pod]) && state.is_present(pod);
}

bool has_new_pod(const ClusterState& state, GangIndex gang) {
  return std::ranges::any_of(state.problem().gangs[gang].pods, [&](PodIndex pod) { return is_new(state, pod); });
}

void EvictedUnits::read() {
  lost_.clear();
  units_.clear();
  std::vector<std::pair<PodIndex, GangIndex>> moves;
  for (const PlannedEviction& eviction : context_.ledger.evictions()) {
    if (eviction.reason == EvictionReason::kStale) continue;
    if (state_.is_present(eviction.pod)) {
      moves.emplace_back(eviction.pod, eviction.for_gang);
    } else {
      lost_.push_back(eviction.pod);
    }
  }
  arrivals_.set_moves(std::move(moves));
  const auto gang_of = [&](PodIndex pod) { return problem_.pods[pod].gang; };
  std::ranges::stable_sort(lost_, {}, [&](PodIndex pod) { return std::pair(gang_of(pod), problem_.pods[pod].node); });
  for (std::span<const PodIndex> left = lost_; !left.empty();) {
    const GangIndex gang = gang_of(left.front());
    const auto end = std::ranges::find_if(left, [&](PodIndex pod) { return gang_of(pod) != gang; });
    const std::size_t together = is_satisfied(state_, gang) ? 1 : static_cast<std::size_t>(end - left.begin());
    units_.push_back({gang, left.first(together)});
    left = left.subspan(together);
  }
}

bool EvictedUnits::is_away(const EvictedUnit& unit) const {
  return std::ranges::none_of(unit.pods, [&](PodIndex pod) { return state_.is_present(pod); });
}

std::vector<const EvictedUnit*> EvictedUnits::left(NodeIndex node) const {
  std::vector<const EvictedUnit*> units;
  for (const EvictedUnit& unit : units_) {
    const auto ran_here = [&](PodIndex pod) { return problem_.pods[pod].node == node; };
    if (is_away(unit) && std::ranges::any_of(unit.pods, ran_here)) units.push_back(&unit);
  }
  return units;
}

bool EvictedUnits::is_protected(const EvictedUnit& unit, PodIndex pod, GangIndex claimant,
                                EvictionReason reason) const {
  const Nanoseconds least = context_.rules.min_runtime(claimant, unit.gang, reason);
  if (problem_.pods[pod].run_time >= least || is_satisfied(state_, unit.gang)) return false;
  const auto is_young = [&](PodIndex other) {
    return problem_.pods[other].run_time < least && std::ranges::find(unit.pods, other) != unit.pods.end();
  };
  return !meets_minimum(problem_, problem_.gangs[unit.gang], [&](PodIndex other) {
    const PodStatus status = problem_.pods[other].status;
    return status == PodStatus::kSucceeded || (status == PodStatus::kRunning && !is_young(other));
  });
}

// For any of these pods of the unit.
bool EvictedUnits::may_evict(GangIndex claimant, const EvictedUnit& unit, std::span<const PodIndex> pods) const {
  if (claimant == unit.gang) return true;
  if (claimant.is_none() || !has_new_pod(state_, claimant)) return false;
  const Actions& actions = problem_.snapshot->policy.actions;
  const auto is_open = [&](EvictionReason reason) {
    return std::ranges::any_of(pods, [&](PodIndex pod) { return !is_protected(unit, pod, claimant, reason); });
  };
  return (actions.preempt && context_.rules.may_preempt(claimant, unit.gang) && is_open(EvictionReason::kPreempt)) ||
         (actions.reclaim && may_reclaim(claimant, unit.gang) && is_open(EvictionReason::kReclaim));
}

// Of a victim that is preemptible, its queue decides.
bool EvictedUnits::may_reclaim(GangIndex claimant, GangIndex victim) const {
  if (problem_.gangs[claimant].preemption_policy == PreemptionPolicy::kNever) return false;
  const auto [known, is_new] =
      reclaims_.try_emplace({context_.rules.claimant_kind(claimant), problem_.gangs[victim].queue}, false);
  if (is_new) known->second = context_.rules.has_reclaimed_by_right(state_, claimant, victim);
  return known->second;
}

// Whether the arrived pod was placed for a gang that may evict one of the unit's pods that ran there.
bool EvictedUnits::counts(const EvictedUnit& unit, std::span<const PodIndex> ran_there, PodIndex arrival) const {
  return arrivals_.any_claimant(arrival, [&](GangIndex claimant) { return may_evict(claimant, unit, ran_there); });
}

std::vector<PodIndex> EvictedUnits::others_on_nodes_of(const EvictedUnit& unit) const {
  std::vector<PodIndex> others;
  for (std::span<const PodIndex> left = unit.pods; !left.empty();) {
    const NodeIndex node = problem_.pods[left.front()].node;
    const auto end = std::ranges::find_if(left, [&](PodIndex pod) { return problem_.pods[pod].node != node; });
    const std::span<const PodIndex> here(left.begin(), end);
    std::ranges::copy_if(state_.pods_on(node), std::back_inserter(others),
                         [&](PodIndex other) { return arrivals_.is_arrival(other) && !counts(unit, here, other); });
    left = left.subspan(here.size());
  }
  return others;
}

bool EvictedUnits::is_surely_out(PodIndex pod) const {
  const NodeIndex node = problem_.pods[pod].node;
  const PodClass& pod_class = problem_.class_of(pod);
  if (state_.node_of(pod) == node) return false;
  if (is_exceeded(problem_.class_of(node)) || problem_.host_port_count() > 0) return false;  // see has_room_at_home
  if (!fit::capacity(room_of(state_, node), pod_class)) return true;
  const auto shares = [&](PodIndex other) {
    const GpuRequest& gpu = problem_.class_of(other).gpu;
    return gpu.devices > 0 && gpu.kind != GpuRequestKind::kWhole;
  };
  return state_.idle_devices(node) < pod_class.gpu.devices && pod_class.gpu.kind == GpuRequestKind::kWhole &&
         std::ranges::none_of(state_.pods_on(node), shares);
}

bool EvictedUnits::has_room(const EvictedUnit& unit) {
  const std::vector<PodIndex> others = others_on_nodes_of(unit);
  if (others.empty() && std::ranges::any_of(unit.pods, [&](PodIndex pod) { return is_surely_out(pod); })) return false;
  const auto before = state_.checkpoint();
  for (const PodIndex other : others) state_.take(other);
  const bool fits = std::ranges::all_of(unit.pods, [&](PodIndex pod) {
    if (!has_room_at_home(state_, pod) && !fits_with_other_devices(pod)) return false;
    const Place home = snapshot_place(problem_, pod);
    if (!state_.is_present(pod)) state_.put(pod, home.node, home.devices);
    return true;
  });
  state_.rollback(before);
  return fits;
}

bool EvictedUnits::fits_with_other_devices(PodIndex pod) {
  const Place home = snapshot_place(problem_, pod);
  const NodeClass& node_class = problem_.class_of(home.node);
  const auto units_of = [&](PodIndex other) { return share_units(problem_.class_of(other), node_class); };
  if (home.devices.empty()) return false;
  std::vector<PodIndex> arrivals;
  for (const PodIndex other : state_.pods_on(home.node)) {
    if (arrivals_.is_arrival(other) && problem_.class_of(other).gpu.devices > 0) arrivals.push_back(other);
  }
  for (const PodIndex other : arrivals) state_.take(other);
  if (!has_room_at_home(state_, pod)) return false;
  state_.put(pod, home.node, home.devices);
  std::ranges::sort(arrivals,
                    [&](PodIndex a, PodIndex b) { return std::pair(-units_of(a), a) < std::pair(-units_of(b), b); });
  return std::ranges::all_of(arrivals, [&](PodIndex other) {
    const PodClass& pod_class = problem_.class_of(other);
    const Room room = room_of(state_, home.node);
    const std::optional<DeviceList> devices = choose_devices(room, problem_, pod_class, home.node);
    if (!devices || !fit::capacity(room, pod_class)) return false;
    state_.put(other, home.node, *devices);
    return true;
  });
}

}  // namespace muster::preemption
