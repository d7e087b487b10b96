#include "heuristics/preemption/reprieve.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/planner.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_values.h"
#include "model/objective/levels.h"
#include "model/problem/eviction_loss.h"

namespace muster::preemption {

namespace {

// Takes up a plan, and tries to return its victims and its moved pods one after another, each kept if all rules hold.
class PlanReprieve {
 public:
  PlanReprieve(const Problem& problem, const FairShares& shares, const Plan& plan, const StopRequest& stop)
      : problem_(problem),
        stop_(stop),
        state_(problem, ClusterState::Releasing::kFreed),
        bounds_(queue_bounds(problem, state_)),
        rules_(problem, shares, state_),
        chooser_(state_, bounds_, placement::usual_rule(problem)),
        placer_(state_, bounds_, chooser_, placement::PodOrder::kBigFirst),
        planner_({rules_, placer_, stop_, evictions_of(plan, true)}) {
    for (const Eviction& eviction : plan.evictions) state_.take(eviction.pod);
    for (const Placement& placement : plan.placements) state_.put(placement.pod, placement.node, placement.devices);
    planner_.adopt(evictions_of(plan, false));
  }

  // Gangs that gave way claim room elsewhere, and what leaves for them leaves by right, too.
  Plan settle_rights() {
    note_ranks();
    const std::vector<GangIndex> placed = newly_placed();
    preemption::settle_rights(planner_.context(), stop_);
    bool has_claimed = false;
    for (const GangIndex gang : placed) {
      if (!is_anything_present(state_, gang) && !is_stopped() && planner_.claim_minimum(gang, rank_of(gang)))
        has_claimed = true;
    }
    if (has_claimed) preemption::settle_rights(planner_.context(), stop_);
    return plan_of(problem_, state_, planner_.context().ledger.evictions());
  }

  Plan run() {
    planner_.exchange_victims();
    planner_.reprieve();
    // After each return, also the last one before the limit: what else may stay now has to.
    while (!is_over() && send_home()) planner_.reprieve();
    return plan_of(problem_, state_, planner_.context().ledger.evictions());
  }

 private:
  // Those that are stale, or all others.
  static std::vector<PlannedEviction> evictions_of(const Plan& plan, bool stale) {
    std::vector<PlannedEviction> evictions;
    for (const Eviction& eviction : plan.evictions) {
      if ((eviction.reason == EvictionReason::kStale) == stale)
        evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
    }
    return evictions;
  }

  bool is_stopped() const { return stop_ && stop_(); }
  bool is_over() const { return trials_ >= kTuning.heuristics.return_trials || is_stopped(); }

  std::int32_t rank_of(GangIndex gang) const { return static_cast<std::int32_t>(problem_.gangs[gang].rank); }

  // Gangs of lower priority may have to give way to a claim.
  void note_ranks() {
    for (const GangIndex gang : problem_.gangs.indices()) planner_.context().ranks.note(gang, rank_of(gang));
  }

  // Gangs of which nothing ran, the highest priority first.
  std::vector<GangIndex> newly_placed() const {
    const auto runs = [&](PodIndex pod) { return problem_.pods[pod].status == PodStatus::kRunning; };
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (is_anything_present(state_, gang) && std::ranges::none_of(problem_.gangs[gang].pods, runs))
        gangs.push_back(gang);
    }
    std::ranges::stable_sort(gangs, {}, [&](GangIndex gang) { return rank_of(gang); });
    return gangs;
  }

  bool is_moved(PodIndex pod) const {
    return problem_.pods[pod].status == PodStatus::kRunning && state_.is_present(pod) && !is_home(state_, pod);
  }

  // Pods that would return together: an evicted gang's pods, or one pod that was moved.
  using ReturningPods = std::vector<PodIndex>;

  std::vector<ReturningPods> returning_pods() const {
    std::map<GangIndex, ReturningPods> evicted;
    std::vector<ReturningPods> moved;
    for (const PlannedEviction& eviction : planner_.context().ledger.evictions()) {
      if (is_moved(eviction.pod))
        moved.push_back({eviction.pod});
      else if (!state_.is_present(eviction.pod) && eviction.reason != EvictionReason::kStale)
        evicted[problem_.pods[eviction.pod].gang].push_back(eviction.pod);
    }
    std::vector<ReturningPods> all;
    for (auto& [gang, pods] : evicted) all.push_back(std::move(pods));
    const auto work = [&](PodIndex pod) { return problem_.pods[pod].weighted_work; };
    std::ranges::stable_sort(all, std::ranges::greater{},
                             [&](const ReturningPods& pods) { return evicted_value(problem_.pods[pods.front()]); });
    std::ranges::stable_sort(moved, std::ranges::greater{},
                             [&](const ReturningPods& pods) { return work(pods.front()); });
    all.insert(all.end(), moved.begin(), moved.end());
    return all;
  }

  // The most expensive first. Returns whether any pod returned.
  bool send_home() {
    bool any = false;
    for (const ReturningPods& pods : returning_pods()) {
      if (std::ranges::all_of(pods, [&](PodIndex pod) { return is_at_home(pod); })) continue;  // by another's going
      bool has_gone = try_to_go_home(pods, 0);
      for (std::size_t i = 0; i < kTuning.heuristics.tried && !has_gone && !is_over(); ++i)
        has_gone = try_to_go_home(pods, 1 + random_() % kTuning.heuristics.few);
      any = any || has_gone;
      if (is_over()) break;
    }
    return any;
  }

  bool try_to_go_home(const ReturningPods& pods, std::size_t opened) {
    ++trials_;
    const auto before = state_.checkpoint();
    if (go_home(pods, opened) && planner_.context().rules_hold()) return true;
    state_.rollback(before);
    return false;
  }

  // A blocking pod there that is not on its own node has to fit elsewhere; so have all such pods on the additional
  // nodes that are opened.
  bool go_home(const ReturningPods& pods, std::size_t opened) {
    for (const PodIndex pod : pods)
      if (state_.is_present(pod)) state_.take(pod);
    std::vector<PodIndex> displaced;
    for (const PodIndex pod : pods) {
      const Place home = snapshot_place(problem_, pod);
      // Pods on its devices have to leave, others only if it lacks cpu or memory.
      std::vector<PodIndex> in_the_way = guests_of(home.node);
      std::ranges::stable_sort(in_the_way, std::ranges::greater{},
                               [&](PodIndex other) { return shares_device(other, home); });
      for (auto other = in_the_way.begin(); !put_home(pod); ++other) {
        if (other == in_the_way.end()) return false;
        displaced.push_back(*other);
        state_.take(*other);
      }
    }
    for (std::size_t i = 0; i < opened; ++i) {
      for (const PodIndex other : guests_of(NodeIndex(random_() % problem_.nodes.size()))) {
        displaced.push_back(other);
        state_.take(other);
      }
    }
    std::ranges::sort(displaced);
    std::ranges::shuffle(displaced, random_);
    std::ranges::stable_sort(displaced, std::ranges::greater{},
                             [&](PodIndex other) { return problem_.class_of(other).work; });
    return std::ranges::all_of(displaced, [&](PodIndex other) { return find_room(other); });
  }

  // A moved pod returns to its old node if it can.
  bool find_room(PodIndex pod) {
    return (problem_.pods[pod].status == PodStatus::kRunning && put_home(pod)) || placer_.place_pod(pod);
  }

  std::vector<PodIndex> guests_of(NodeIndex node) const {
    std::vector<PodIndex> guests;
    for (const PodIndex pod : state_.pods_on(node))
      if (!is_at_home(pod)) guests.push_back(pod);
    return guests;
  }

  bool is_at_home(PodIndex pod) const {
    return problem_.pods[pod].status == PodStatus::kRunning && state_.is_present(pod) && is_home(state_, pod);
  }

  bool shares_device(PodIndex pod, const Place& place) const {
    return std::ranges::any_of(state_.place_of(pod).devices, [&](std::int32_t device) {
      return std::ranges::find(place.devices, device) != place.devices.end();
    });
  }

  // Whether it fits there.
  bool put_home(PodIndex pod) {
    const PodClass& pod_class = problem_.class_of(pod);
    const Place home = snapshot_place(problem_, pod);
    if (!has_room_at_home(state_, pod) || !fit::node(problem_, pod_class, home.node) ||
        !fit::anti_affinity(state_, pod_class, home.node) || !fit::inter_pod(state_, pod_class, home.node) ||
        !fits_queue(state_, bounds_, pod, home.node))
      return false;
    state_.put(pod, home.node, home.devices);
    return true;
  }

  const Problem& problem_;
  const StopRequest& stop_;
  ClusterState state_;
  QueueBounds bounds_;
  EvictionRules rules_;
  placement::NodeChooser chooser_;
  placement::GangPlacer placer_;
  PreemptionPlanner planner_;
  std::mt19937_64 random_{1};
  std::int64_t trials_ = 0;
};

}  // namespace

Candidate settle_rights(const Problem& problem, const FairShares& shares, const Plan& plan, const StopRequest& stop) {
  Candidate settled{PlanReprieve(problem, shares, plan, stop).settle_rights(), {}};
  settled.levels = evaluate(problem, shares, settled.plan);
  return settled;
}

Candidate reprieve_victims(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                           const StopRequest& stop) {
  Plan plan = PlanReprieve(problem, shares, incumbent.plan, stop).run();
  Levels levels = evaluate(problem, shares, plan);
  if (compare(levels, incumbent.levels, level_ids(problem)) <= 0) return incumbent;
  return {std::move(plan), std::move(levels)};
}

}  // namespace muster::preemption
