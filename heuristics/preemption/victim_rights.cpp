#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/evicted_units.h"
#include "heuristics/preemption/settling.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/tuning.h"

namespace muster::preemption {

namespace {

void append_new_pods(const ClusterState& state, GangIndex gang, std::vector<PodIndex>& pods) {
  std::ranges::copy_if(state.problem().gangs[gang].pods, std::back_inserter(pods),
                       [&](PodIndex pod) { return is_new(state, pod); });
}

// Pods of gangs that may not evict a unit never count as a reason for its leaving.
class VictimRights {
 public:
  VictimRights(PreemptionContext& context, const StopRequest& stop)
      : context_(context), stop_(stop), problem_(context.problem), state_(context.state), units_(context) {}

  bool settle() {
    bool any = false;
    // What gives way may have been the reason for other evictions. Each round leaves fewer pods placed or away;
    // exchanges, which could go round in a circle, are as many at most as pods have left.
    units_.read();
    exchanges_left_ = units_.all().size();
    for (bool again = true; again && !is_stopped();) {
      again = false;
      units_.read();
      const auto note = [&](bool has_changed) {
        if (has_changed) units_.forget();
        again = again || has_changed;
      };
      for (const auto& [pod, claimant] : units_.arrivals().moves()) note(bring_home(pod));
      for (const EvictedUnit& unit : units_.all()) {
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

  // Whether every eviction holds by right: what was placed since may have brought a queue above its share.
  bool hold() {
    units_.forget();
    return std::ranges::none_of(units_.all(),
                                [&](const EvictedUnit& unit) { return units_.is_away(unit) && units_.has_room(unit); });
  }

  // Whether anything has changed. The devices of what arrived there may have been the only obstacle.
  bool bring_home(PodIndex moved) {
    if (!state_.is_present(moved) || is_home(state_, moved) || units_.is_surely_out(moved)) return false;
    const auto before = state_.checkpoint();
    state_.take(moved);
    if (put_back(state_, context_.bounds, moved)) {
      if (context_.rules_hold()) return true;
      state_.rollback(before);
      state_.take(moved);
    }
    if (units_.fits_with_other_devices(moved)) {
      state_.take(moved);
      if (put_back(state_, context_.bounds, moved) && context_.rules_hold()) return true;
    }
    state_.rollback(before);
    return false;
  }

  // Whether anything has changed.
  bool settle(const EvictedUnit& unit) {
    if (!units_.is_away(unit) || !units_.has_room(unit) || !could_have_stayed(unit)) return false;
    const std::vector<PodIndex> others = units_.others_on_nodes_of(unit);
    if (change_places(unit, others)) return true;
    std::set<GangIndex> near;
    for (const PodIndex other : others) {
      units_.arrivals().any_claimant(other, [&](GangIndex gang) {
        near.insert(gang);
        return false;
      });
    }
    // A gang that could give way may have many more pods than those in the way.
    const std::vector<GangIndex> least_first = by_loss(with_queues_of(near, unit));
    const auto found = std::ranges::find_if(least_first, [&](GangIndex gang) { return could_give_back(unit, gang); });
    const bool is_found = found != least_first.end();
    if (move_away(unit, others, is_found ? std::optional(loss_of(*found)) : std::nullopt)) return true;
    if (is_found) return give_back(unit, {*found});
    const auto has_no_right = [&](GangIndex gang) { return !units_.may_evict(gang, unit); };
    return give_back(unit, {near.begin(), near.end()}) || give_back(unit, placed_gangs(has_no_right)) ||
           give_back(unit, placed_gangs([](GangIndex) { return true; }));
  }

  // And a few gangs placed in their queues, those that lose least: without one of them, the others may be within the
  // share again, and reclaim.
  std::set<GangIndex> with_queues_of(std::set<GangIndex> gangs, const EvictedUnit& unit) const {
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

  // What the plan places of a gang: the lower, the less is lost if it gives way.
  using Loss = std::pair<std::int32_t, Work>;  // its priority; work
  Loss loss_of(GangIndex gang) const {
    std::vector<PodIndex> pods;
    append_new_pods(state_, gang, pods);
    Work work = 0;
    for (const PodIndex pod : pods) work += problem_.pods[pod].weighted_work;
    return {problem_.gangs[gang].priority, work};
  }
  std::vector<GangIndex> by_loss(const std::set<GangIndex>& gangs) const {
    std::vector<std::pair<Loss, GangIndex>> losses;
    for (const GangIndex gang : gangs) losses.emplace_back(loss_of(gang), gang);
    std::ranges::sort(losses);
    std::vector<GangIndex> sorted;
    for (const auto& [loss, gang] : losses) sorted.push_back(gang);
    return sorted;
  }

  // Nothing but capacity and filters depends on which node the pod is on.
  bool is_free_to_change(PodIndex pod) const {
    const PodClass& pod_class = problem_.class_of(pod);
    if (pod_class.has_ordered_rules() || !pod_class.anti_affinity_owned.empty() ||
        !pod_class.anti_affinity_matched.empty())
      return false;
    const auto is_bound = [&](GroupIndex group) { return !problem_.groups[group].required_level.is_none(); };
    return std::ranges::none_of(problem_.gangs[problem_.pods[pod].gang].groups, is_bound);
  }

  // On one node of the unit, where least has to, arrivals without a right to its room change places with others that
  // have one, until it has to leave.
  bool change_places(const EvictedUnit& unit, const std::vector<PodIndex>& others) {
    if (exchanges_left_ == 0) return false;
    std::map<NodeIndex, std::vector<PodIndex>> by_node;
    for (const PodIndex other : others) by_node[state_.node_of(other)].push_back(other);
    std::vector<std::pair<std::size_t, NodeIndex>> order;
    for (const auto& [node, pods] : by_node) order.emplace_back(pods.size(), node);
    std::ranges::sort(order);
    const bool has_changed = std::ranges::any_of(order, [&](const auto& entry) {
      const auto before = state_.checkpoint();
      for (const PodIndex other : by_node[entry.second]) {
        if (is_stopped()) break;
        if (change_place(unit, other) && !units_.has_room(unit) && context_.rules_hold()) return true;
      }
      state_.rollback(before);
      return false;
    });
    if (has_changed) --exchanges_left_;
    return has_changed;
  }

  // With new pods of gangs that may evict the unit, all on one other node: with an equal pod if there is one, else with
  // the largest ones; nodes that no pod leaves come first. What had to leave either node still has to.
  bool change_place(const EvictedUnit& unit, PodIndex other) {
    if (!is_free_to_change(other)) return false;
    const auto is_equal = [&](PodIndex pod) { return problem_.pods[pod].pod_class == problem_.pods[other].pod_class; };
    std::map<NodeIndex, std::vector<PodIndex>> by_node;
    for (const PodIndex pod : problem_.pods.indices()) {
      if (is_new(state_, pod) && state_.node_of(pod) != state_.node_of(other) && is_free_to_change(pod) &&
          units_.may_evict(problem_.pods[pod].gang, unit) && !is_of(unit, state_.node_of(pod)))
        by_node[state_.node_of(pod)].push_back(pod);
    }
    std::vector<std::tuple<bool, bool, NodeIndex>> order;
    for (auto& [node, pods] : by_node) {
      std::ranges::stable_sort(
          pods, {}, [&](PodIndex pod) { return std::pair(!is_equal(pod), -problem_.pods[pod].weighted_work); });
      order.emplace_back(!is_equal(pods.front()), !units_.left(node).empty(), node);
    }
    std::ranges::sort(order);
    if (order.size() > kTuning.heuristics.tried) order.resize(kTuning.heuristics.tried);
    return std::ranges::any_of(order, [&](const auto& entry) {
      const NodeIndex node = std::get<NodeIndex>(entry);
      const auto before = state_.checkpoint();
      std::vector<const EvictedUnit*> leaving = units_.left(node);
      std::ranges::copy(units_.left(state_.node_of(other)), std::back_inserter(leaving));
      std::erase_if(leaving, [&](const EvictedUnit* one) { return units_.has_room(*one); });
      if (exchange(other, by_node[node]) &&
          std::ranges::none_of(leaving, [&](const EvictedUnit* one) { return units_.has_room(*one); }))
        return true;
      state_.rollback(before);
      return false;
    });
  }

  // The pod goes to the node of these, as many of them as have to make room for it go to its own. False: the state is
  // to be rolled back.
  bool exchange(PodIndex pod, std::span<const PodIndex> others) {
    const NodeIndex here = state_.node_of(pod), there = state_.node_of(others.front());
    const auto put = [&](PodIndex which, NodeIndex node) {
      if (node == problem_.pods[which].node || !can_place(state_, context_.bounds, which, node)) return false;
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

  std::vector<GangIndex> placed_gangs(const std::function<bool(GangIndex)>& counts) const {
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (has_new_pod(state_, gang) && counts(gang)) gangs.push_back(gang);
    }
    return gangs;
  }

  // Takes their new pods away; what was moved for them alone goes home, or if that does not fit, off the unit's nodes.
  // False: not even that is possible.
  bool give_way(const std::vector<GangIndex>& gangs, const EvictedUnit& unit) {
    const std::set<GangIndex> giving_way(gangs.begin(), gangs.end());
    const std::vector<PodIndex> moved =
        units_.arrivals().moved_for_none([&](GangIndex gang) { return !giving_way.contains(gang); });
    std::vector<PodIndex> leaving = moved;
    for (const GangIndex gang : gangs) append_new_pods(state_, gang, leaving);
    for (const PodIndex pod : leaving) state_.take(pod);
    const auto is_home_again = [&](PodIndex pod) { return put_back(state_, context_.bounds, pod); };
    return std::ranges::all_of(moved, [&](PodIndex pod) { return is_home_again(pod) || put_off(pod, unit); });
  }

  // Where the fewest devices are idle.
  bool put_off(PodIndex pod, const EvictedUnit& unit) {
    if (!is_free_to_change(pod)) return false;
    std::optional<NodeIndex> best;
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (node == problem_.pods[pod].node || is_of(unit, node)) continue;
      if (best && state_.idle_devices(*best) <= state_.idle_devices(node)) continue;
      if (can_place(state_, context_.bounds, pod, node)) best = node;
    }
    if (!best) return false;
    put(pod, *best);
    return true;
  }

  // The unit comes back, and what was in its way goes elsewhere, if need be in place of gangs that lose less, all
  // together, than `most` (none: whatever that is). False: nothing has changed.
  bool move_away(const EvictedUnit& unit, std::vector<PodIndex> others, const std::optional<Loss>& most) {
    if (!std::ranges::all_of(others, [&](PodIndex other) { return is_free_to_change(other); })) return false;
    const auto before = state_.checkpoint();
    std::set<GangIndex> staying;
    for (const PodIndex other : others) {
      staying.insert(problem_.pods[other].gang);
      state_.take(other);
    }
    std::ranges::stable_sort(others, std::greater(),
                             [&](PodIndex other) { return problem_.pods[other].weighted_work; });
    std::vector<GangIndex> gangs;
    std::optional<Loss> left = most;
    const auto goes_elsewhere = [&](PodIndex other) {
      return put_off(other, unit) || put_in_place_of(other, unit, staying, left, gangs);
    };
    if (comes_back(unit) && std::ranges::all_of(others, goes_elsewhere) && context_.rules_hold()) {
      units_.forget();
      gave_way_.insert(gave_way_.end(), gangs.begin(), gangs.end());
      return true;
    }
    state_.rollback(before);
    return false;
  }

  // Of gangs whose loss, all together, is the least of any node, and below `most`, of which it is taken.
  bool put_in_place_of(PodIndex pod, const EvictedUnit& unit, const std::set<GangIndex>& staying,
                       std::optional<Loss>& most, std::vector<GangIndex>& gangs) {
    std::optional<std::pair<Loss, NodeIndex>> best;
    std::vector<GangIndex> giving_way;
    for (const NodeIndex node : problem_.nodes.indices()) {
      if (is_stopped()) return false;
      if (is_of(unit, node) || node == problem_.pods[pod].node) continue;
      std::set<GangIndex> on_node;
      for (const PodIndex other : state_.pods_on(node))
        if (is_new(state_, other) && !staying.contains(problem_.pods[other].gang))
          on_node.insert(problem_.pods[other].gang);
      const auto before = state_.checkpoint();
      Loss loss{std::numeric_limits<std::int32_t>::min(), 0};
      std::vector<GangIndex> leaving;
      for (const GangIndex gang : by_loss(on_node)) {
        const Loss of_gang = loss_of(gang);
        loss = {std::max(loss.first, of_gang.first), loss.second + of_gang.second};
        if ((most && loss >= *most) || (best && loss >= best->first)) break;
        take_new_pods(gang);
        leaving.push_back(gang);
        if (!can_place(state_, context_.bounds, pod, node)) continue;
        best.emplace(loss, node);
        giving_way = leaving;
        break;
      }
      state_.rollback(before);
    }
    if (!best) return false;
    for (const GangIndex gang : giving_way) take_new_pods(gang);
    gangs.insert(gangs.end(), giving_way.begin(), giving_way.end());
    if (most) most->second -= best->first.second;
    put(pod, best->second);
    return true;
  }

  void take_new_pods(GangIndex gang) {
    std::vector<PodIndex> pods;
    append_new_pods(state_, gang, pods);
    for (const PodIndex pod : pods) state_.take(pod);
  }

  // Requires that it may be placed there.
  void put(PodIndex pod, NodeIndex node) {
    state_.put(pod, node, *choose_devices(room_of(state_, node), problem_, problem_.class_of(pod), node));
  }

  bool is_of(const EvictedUnit& unit, NodeIndex node) const {
    return std::ranges::any_of(unit.pods, [&](PodIndex pod) { return problem_.pods[pod].node == node; });
  }

  void undo(ClusterState::Checkpoint before) {
    state_.rollback(before);
    units_.forget();
  }

  bool comes_back(const EvictedUnit& unit) {
    return std::ranges::all_of(unit.pods, [&](PodIndex pod) {
      return put_back(state_, context_.bounds, pod) ||
             (units_.fits_with_other_devices(pod) && (state_.take(pod), put_back(state_, context_.bounds, pod)));
    });
  }

  // Next to the part by right, which the limits of queues, too, and what its gangs want free may keep it from.
  bool could_have_stayed(const EvictedUnit& unit) {
    const auto has_right = [&](GangIndex gang) { return units_.may_evict(gang, unit); };
    std::vector<PodIndex> others = units_.arrivals().moved_for_none(has_right);
    const std::vector<GangIndex> by_right = placed_gangs(has_right);
    for (const GangIndex gang : placed_gangs(std::not_fn(has_right))) append_new_pods(state_, gang, others);
    const auto before = state_.checkpoint();
    for (const PodIndex pod : others) state_.take(pod);
    const bool could = comes_back(unit) &&
                       std::ranges::all_of(by_right, [&](GangIndex gang) { return context_.min_resources_hold(gang); });
    state_.rollback(before);
    return could;
  }

  bool could_give_back(const EvictedUnit& unit, GangIndex giving_way) {
    const auto before = state_.checkpoint();
    if (!give_back(unit, {giving_way})) return false;
    gave_way_.pop_back();
    undo(before);
    return true;
  }

  // Once these gangs have given way, the unit comes back, unless others keep it out now by right; or nothing changes.
  bool give_back(const EvictedUnit& unit, const std::vector<GangIndex>& giving_way) {
    const auto before = state_.checkpoint();
    const bool is_free = give_way(giving_way, unit);
    units_.forget();
    if (is_free && (!units_.has_room(unit) || comes_back(unit)) && context_.rules_hold()) {
      gave_way_.insert(gave_way_.end(), giving_way.begin(), giving_way.end());
      return true;
    }
    undo(before);
    return false;
  }

  PreemptionContext& context_;
  const StopRequest& stop_;
  const Problem& problem_;
  ClusterState& state_;
  EvictedUnits units_;
  std::vector<GangIndex> gave_way_;
  std::size_t exchanges_left_ = 0;
};

}  // namespace

bool settle_rights(PreemptionContext& context, const StopRequest& stop) { return VictimRights(context, stop).settle(); }

}  // namespace muster::preemption
