#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/arrivals.h"
#include "heuristics/preemption/settling.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/tuning.h"
#include "model/problem/exceeded.h"
#include "model/problem/gang_tree.h"

namespace muster::preemption {

namespace {

bool is_new(const ClusterState& state, PodIndex pod) {
  return fit::is_pending(state.problem().pods[pod]) && state.is_present(pod);
}

bool has_new_pod(const ClusterState& state, GangIndex gang) {
  return std::ranges::any_of(state.problem().gangs[gang].pods, [&](PodIndex pod) { return is_new(state, pod); });
}

void append_new_pods(const ClusterState& state, GangIndex gang, std::vector<PodIndex>& pods) {
  std::ranges::copy_if(state.problem().gangs[gang].pods, std::back_inserter(pods),
                       [&](PodIndex pod) { return is_new(state, pod); });
}

// Pods of gangs that may not evict a unit never count as a reason for its leaving.
class VictimRights {
 public:
  VictimRights(PreemptionContext& context, const StopRequest& stop)
      : context_(context),
        stop_(stop),
        problem_(context.problem),
        state_(context.state),
        arrivals_(state_, context.ledger) {}

  bool settle() {
    bool any = false;
    // What gives way may have been the reason for other evictions. Each round leaves fewer pods placed or away;
    // exchanges, which could go round in a circle, are as many at most as pods have left.
    read_evictions();
    exchanges_left_ = units_.size();
    for (bool again = true; again && !is_stopped();) {
      again = false;
      read_evictions();
      const auto note = [&](bool has_changed) {
        if (has_changed) reclaims_.clear();
        again = again || has_changed;
      };
      for (const auto& [pod, claimant] : arrivals_.moves()) note(bring_home(pod));
      for (const Unit& unit : units_) {
        if (is_stopped()) break;
        note(settle(unit));
      }
      any = any || again;
    }
    if (gave_way_.empty()) return any;
    std::ranges::stable_sort(gave_way_, std::ranges::greater{},
                             [&](GangIndex gang) { return problem_.gangs[gang].priority; });
    for (const GangIndex gang : std::exchange(gave_way_, {})) {
      if (is_stopped()) break;
      const auto before = state_.checkpoint();
      const bool is_placed = context_.placer.may_place(gang) && !is_satisfied(state_, gang) &&
                             context_.min_resources_hold(gang) && context_.placer.place_minimum(gang);
      if (is_placed && !(context_.rules_hold() && hold())) state_.rollback(before);
    }
    context_.ledger.name_claimants();
    return any;
  }

 private:
  bool is_stopped() const { return stop_ && stop_(); }

  // Pods of one gang that leave together: what is evicted of its minimum, or one pod beyond it. Those of one node
  // follow each other.
  struct Unit {
    GangIndex gang;
    std::span<const PodIndex> pods;
  };

  // Whether every eviction holds by right: what was placed since may have brought a queue above its share.
  bool hold() {
    reclaims_.clear();
    return std::ranges::none_of(units_, [&](const Unit& unit) { return is_away(unit) && has_room(unit); });
  }

  void read_evictions() {
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

  // Whether anything has changed. The devices of what arrived there may have been the only obstacle.
  bool bring_home(PodIndex moved) {
    if (!state_.is_present(moved) || is_home(state_, moved) || is_surely_out(moved)) return false;
    const auto before = state_.checkpoint();
    state_.take(moved);
    if (put_back(state_, context_.bounds, moved)) {
      if (context_.rules_hold()) return true;
      state_.rollback(before);
      state_.take(moved);
    }
    if (fits_with_other_devices(moved)) {
      state_.take(moved);
      if (put_back(state_, context_.bounds, moved) && context_.rules_hold()) return true;
    }
    state_.rollback(before);
    return false;
  }

  bool is_away(const Unit& unit) const {
    return std::ranges::none_of(unit.pods, [&](PodIndex pod) { return state_.is_present(pod); });
  }

  // Whether anything has changed.
  bool settle(const Unit& unit) {
    if (!is_away(unit) || !has_room(unit) || !could_have_stayed(unit)) return false;
    const std::vector<PodIndex> others = others_on_nodes_of(unit);
    for (const PodIndex other : others) {
      if (change_places(unit, other)) return true;
    }
    std::set<GangIndex> near;
    for (const PodIndex other : others) {
      arrivals_.any_claimant(other, [&](GangIndex gang) {
        near.insert(gang);
        return false;
      });
    }
    const std::vector<GangIndex> least_first = by_loss(with_queues_of(near, unit));
    const auto gives_way = [&](GangIndex gang) { return give_back(unit, {gang}); };
    const auto has_no_right = [&](GangIndex gang) { return !may_evict(gang, unit); };
    return std::ranges::any_of(least_first, gives_way) || give_back(unit, {near.begin(), near.end()}) ||
           give_back(unit, placed_gangs(has_no_right)) || give_back(unit, placed_gangs([](GangIndex) { return true; }));
  }

  // And a few gangs placed in their queues, those that lose least: without one of them, the others may be within the
  // share again, and reclaim.
  std::set<GangIndex> with_queues_of(std::set<GangIndex> gangs, const Unit& unit) const {
    if (!problem_.snapshot->policy.actions.reclaim) return gangs;
    std::set<QueueIndex> queues;
    for (const GangIndex gang : gangs) queues.insert(problem_.gangs[gang].queue);
    queues.erase(problem_.gangs[unit.gang].queue);
    if (queues.empty()) return gangs;
    const std::vector<GangIndex> placed =
        placed_gangs([&](GangIndex gang) { return queues.contains(problem_.gangs[gang].queue); });
    const std::vector<GangIndex> least_first = by_loss({placed.begin(), placed.end()});
    gangs.insert(least_first.begin(),
                 least_first.begin() + std::min(std::ssize(least_first), std::ptrdiff_t{kTuning.heuristics.tried}));
    return gangs;
  }

  // What the plan places of them, the lowest priority first, then the least work.
  std::vector<GangIndex> by_loss(const std::set<GangIndex>& gangs) const {
    std::vector<std::tuple<std::int32_t, Work, GangIndex>> losses;
    for (const GangIndex gang : gangs) {
      std::vector<PodIndex> pods;
      append_new_pods(state_, gang, pods);
      Work work = 0;
      for (const PodIndex pod : pods) work += problem_.pods[pod].weighted_work;
      losses.emplace_back(problem_.gangs[gang].priority, work, gang);
    }
    std::ranges::sort(losses);
    std::vector<GangIndex> sorted;
    for (const auto& [priority, work, gang] : losses) sorted.push_back(gang);
    return sorted;
  }

  bool is_protected(const Unit& unit, PodIndex pod, GangIndex claimant, EvictionReason reason) const {
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
  bool may_evict(GangIndex claimant, const Unit& unit, std::span<const PodIndex> pods) const {
    if (claimant == unit.gang) return true;
    if (claimant.is_none() || !has_new_pod(state_, claimant)) return false;
    const Actions& actions = problem_.snapshot->policy.actions;
    const auto is_open = [&](EvictionReason reason) {
      return std::ranges::any_of(pods, [&](PodIndex pod) { return !is_protected(unit, pod, claimant, reason); });
    };
    return (actions.preempt && context_.rules.may_preempt(claimant, unit.gang) && is_open(EvictionReason::kPreempt)) ||
           (actions.reclaim && may_reclaim(claimant, unit.gang) && is_open(EvictionReason::kReclaim));
  }

  bool may_evict(GangIndex claimant, const Unit& unit) const { return may_evict(claimant, unit, unit.pods); }

  // Of a victim that is preemptible, its queue decides.
  bool may_reclaim(GangIndex claimant, GangIndex victim) const {
    if (problem_.gangs[claimant].preemption_policy == PreemptionPolicy::kNever) return false;
    const auto [known, is_new] =
        reclaims_.try_emplace({context_.rules.claimant_kind(claimant), problem_.gangs[victim].queue}, false);
    if (is_new) known->second = context_.rules.has_reclaimed_by_right(state_, claimant, victim);
    return known->second;
  }

  // Whether the arrived pod was placed for a gang that may evict one of the unit's pods that ran there.
  bool counts(const Unit& unit, std::span<const PodIndex> ran_there, PodIndex arrival) const {
    return arrivals_.any_claimant(arrival, [&](GangIndex claimant) { return may_evict(claimant, unit, ran_there); });
  }

  // The arrivals there that do not count.
  std::vector<PodIndex> others_on_nodes_of(const Unit& unit) const {
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

  // Whether neither the node where it ran nor, if nothing there shares devices, its idle devices have room for the pod.
  bool is_surely_out(PodIndex pod) const {
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

  // Where it was, next to what stays and to the arrivals that count, wherever on its nodes these take their devices.
  bool has_room(const Unit& unit) {
    const std::vector<PodIndex> others = others_on_nodes_of(unit);
    if (others.empty() && std::ranges::any_of(unit.pods, [&](PodIndex pod) { return is_surely_out(pod); }))
      return false;
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

  // Puts the pod at home, and then the arrivals of its node that have devices on others: those that take most of one
  // first, each on the fullest with room for it. False: the state is to be rolled back.
  bool fits_with_other_devices(PodIndex pod) {
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

  // Nothing but capacity and filters, which equal pods share, depends on which of the two is where.
  bool is_free_to_change(PodIndex pod) const {
    const PodClass& pod_class = problem_.class_of(pod);
    if (!fit::is_pending(problem_.pods[pod]) || pod_class.has_ordered_rules() ||
        !pod_class.anti_affinity_owned.empty() || !pod_class.anti_affinity_matched.empty())
      return false;
    const auto is_bound = [&](GroupIndex group) { return !problem_.groups[group].required_level.is_none(); };
    return std::ranges::none_of(problem_.gangs[problem_.pods[pod].gang].groups, is_bound);
  }

  // With pods of gangs that may evict the unit, all on one other node: with an equal pod if there is one, else with the
  // largest ones; nodes that no pod leaves come first. The unit then has to leave, and so have those that did before on
  // either node.
  bool change_places(const Unit& unit, PodIndex other) {
    if (exchanges_left_ == 0 || !is_free_to_change(other)) return false;
    const auto is_equal = [&](PodIndex pod) { return problem_.pods[pod].pod_class == problem_.pods[other].pod_class; };
    std::map<NodeIndex, std::vector<PodIndex>> by_node;
    for (const PodIndex pod : problem_.pods.indices()) {
      if (state_.is_present(pod) && state_.node_of(pod) != state_.node_of(other) && is_free_to_change(pod) &&
          may_evict(problem_.pods[pod].gang, unit))
        by_node[state_.node_of(pod)].push_back(pod);
    }
    std::vector<std::tuple<bool, bool, NodeIndex>> order;
    for (auto& [node, pods] : by_node) {
      std::ranges::stable_sort(
          pods, {}, [&](PodIndex pod) { return std::pair(!is_equal(pod), -problem_.pods[pod].weighted_work); });
      order.emplace_back(!is_equal(pods.front()), !units_on(node).empty(), node);
    }
    std::ranges::sort(order);
    if (order.size() > kTuning.heuristics.tried) order.resize(kTuning.heuristics.tried);
    return std::ranges::any_of(order, [&](const auto& entry) {
      const NodeIndex node = std::get<NodeIndex>(entry);
      const auto before = state_.checkpoint();
      std::vector<const Unit*> leaving = units_on(node);
      std::ranges::copy(units_on(state_.node_of(other)), std::back_inserter(leaving));
      std::erase_if(leaving, [&](const Unit* one) { return has_room(*one); });
      if (exchange(other, by_node[node]) && !has_room(unit) &&
          std::ranges::none_of(leaving, [&](const Unit* one) { return has_room(*one); }) && context_.rules_hold()) {
        --exchanges_left_;
        return true;
      }
      state_.rollback(before);
      return false;
    });
  }

  // The pod goes to the node of these, as many of them as have to make room for it go to its own. False: the state is
  // to be rolled back.
  bool exchange(PodIndex pod, std::span<const PodIndex> others) {
    const NodeIndex here = state_.node_of(pod), there = state_.node_of(others.front());
    const auto put = [&](PodIndex which, NodeIndex node) {
      if (!can_place(state_, context_.bounds, which, node)) return false;
      state_.put(which, node, *choose_devices(room_of(state_, node), problem_, problem_.class_of(which), node));
      return true;
    };
    state_.take(pod);
    std::size_t taken = 0;
    while (!put(pod, there)) {
      if (taken == others.size()) return false;
      state_.take(others[taken++]);
    }
    return std::ranges::all_of(others.first(taken), [&](PodIndex other) { return put(other, here); });
  }

  // That are away from it, with pods of them on other nodes or not.
  std::vector<const Unit*> units_on(NodeIndex node) const {
    std::vector<const Unit*> units;
    for (const Unit& unit : units_) {
      const auto ran_here = [&](PodIndex pod) { return problem_.pods[pod].node == node; };
      if (is_away(unit) && std::ranges::any_of(unit.pods, ran_here)) units.push_back(&unit);
    }
    return units;
  }

  std::vector<GangIndex> placed_gangs(const std::function<bool(GangIndex)>& counts) const {
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (has_new_pod(state_, gang) && counts(gang)) gangs.push_back(gang);
    }
    return gangs;
  }

  // Takes its new pods away; what was moved for it alone goes home. False: that does not fit.
  bool give_way(const std::vector<GangIndex>& gangs) {
    const std::set<GangIndex> giving_way(gangs.begin(), gangs.end());
    const std::vector<PodIndex> moved =
        arrivals_.moved_for_none([&](GangIndex gang) { return !giving_way.contains(gang); });
    std::vector<PodIndex> leaving = moved;
    for (const GangIndex gang : gangs) append_new_pods(state_, gang, leaving);
    for (const PodIndex pod : leaving) state_.take(pod);
    return std::ranges::all_of(moved, [&](PodIndex pod) { return put_back(state_, context_.bounds, pod); });
  }

  bool comes_back(const Unit& unit) {
    return std::ranges::all_of(unit.pods, [&](PodIndex pod) {
      return put_back(state_, context_.bounds, pod) ||
             (fits_with_other_devices(pod) && (state_.take(pod), put_back(state_, context_.bounds, pod)));
    });
  }

  // Next to the part by right, which the limits of queues, too, and what its gangs want free may keep it from.
  bool could_have_stayed(const Unit& unit) {
    const auto has_right = [&](GangIndex gang) { return may_evict(gang, unit); };
    std::vector<PodIndex> others = arrivals_.moved_for_none(has_right);
    const std::vector<GangIndex> by_right = placed_gangs(has_right);
    for (const GangIndex gang : placed_gangs(std::not_fn(has_right))) append_new_pods(state_, gang, others);
    const auto before = state_.checkpoint();
    for (const PodIndex pod : others) state_.take(pod);
    const bool could = comes_back(unit) &&
                       std::ranges::all_of(by_right, [&](GangIndex gang) { return context_.min_resources_hold(gang); });
    state_.rollback(before);
    return could;
  }

  // Once these gangs have given way, the unit comes back, unless others keep it out now by right; or nothing changes.
  bool give_back(const Unit& unit, const std::vector<GangIndex>& giving_way) {
    const auto before = state_.checkpoint();
    const bool is_free = give_way(giving_way);
    reclaims_.clear();
    if (is_free && (!has_room(unit) || comes_back(unit)) && context_.rules_hold()) {
      gave_way_.insert(gave_way_.end(), giving_way.begin(), giving_way.end());
      return true;
    }
    state_.rollback(before);
    reclaims_.clear();
    return false;
  }

  PreemptionContext& context_;
  const StopRequest& stop_;
  const Problem& problem_;
  ClusterState& state_;
  std::vector<PodIndex> lost_;  // of all units
  std::vector<Unit> units_;
  Arrivals arrivals_;
  // Whether claimants of one kind may reclaim from a queue; until the state changes.
  mutable std::map<std::pair<std::uint64_t, QueueIndex>, bool> reclaims_;
  std::vector<GangIndex> gave_way_;
  std::size_t exchanges_left_ = 0;
};

}  // namespace

bool settle_rights(PreemptionContext& context, const StopRequest& stop) { return VictimRights(context, stop).settle(); }

}  // namespace muster::preemption
