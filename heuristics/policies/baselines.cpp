#include "heuristics/policies/baselines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/planner.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"

namespace muster::policies {
namespace {

// Builds a plan on best-fit nodes, one gang at a time.
class PlanBuilder {
 public:
  PlanBuilder(const Problem& problem, const FairShares& shares)
      : problem_(problem),
        state_(problem, ClusterState::Releasing::kFreed),
        bounds_(queue_bounds(problem, state_)),
        rules_(problem, shares, state_),
        chooser_(state_, bounds_,
                 problem.snapshot->policy.placement == PlacementPolicy::kSpread ? placement::NodeRule::kSpread
                                                                                : placement::NodeRule::kBestFit),
        placer_(state_, bounds_, chooser_),
        stale_(settle_stale()),
        room_({problem, shares, bounds_, rules_, state_, chooser_, placer_, no_stop_}, stale_) {}

  const ClusterState& state() const { return state_; }

  // Gangs of which a pod waits and may be placed, oldest first.
  std::vector<GangIndex> waiting() const {
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem_.gangs.indices()) {
      const auto waits = [&](PodIndex pod) { return fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod); };
      if (placer_.may_place(gang) && std::ranges::any_of(problem_.gangs[gang].pods, waits)) gangs.push_back(gang);
    }
    std::ranges::stable_sort(gangs, std::ranges::greater(),
                             [&](GangIndex gang) { return problem_.gangs[gang].times.waited_seconds; });
    return gangs;
  }

  bool place_minimum(GangIndex gang) {
    if (is_satisfied(state_, gang)) return true;
    const std::optional<Shape> shape = shape_of(gang);
    if (shape && misfits_.contains(*shape)) return false;
    if (fit::min_resources(state_, gang) && keep_rules([&] { return placer_.place_minimum(gang); })) return true;
    if (shape) misfits_.insert(*shape);
    return false;
  }

  // The pods beyond the minimum of gangs that have it, as many as fit.
  void grow(const std::vector<GangIndex>& gangs) {
    for (const GangIndex gang : gangs) {
      while (is_satisfied(state_, gang) && keep_rules([&] { return placer_.place_one_more(gang); })) {
      }
    }
  }

  bool claim_minimum(GangIndex gang) {
    if (!room_.is_allowed()) return false;
    const std::optional<Shape> shape = shape_of(gang);
    if (shape && refused_.contains(*shape)) return false;
    if (room_.claim_minimum(gang, 0)) {
      misfits_.clear();
      return true;
    }
    if (shape) refused_.insert(*shape);
    return false;
  }

  Plan plan() {
    room_.reprieve();
    return plan_of(problem_, state_, room_.evictions());
  }

 private:
  // Gangs with equal shapes fit or fail together.
  using Shape = std::tuple<QueueIndex, bool, std::int32_t, PodClassIndex, TopologyLevelIndex, std::int32_t>;
  std::optional<Shape> shape_of(GangIndex index) const {
    const Gang& gang = problem_.gangs[index];
    if (gang.groups.size() > 1 || gang.pods.empty()) return std::nullopt;
    if (!gang.min_resources.empty() || gang.min_resources_gpu > 0) return std::nullopt;
    const PodClassIndex pod_class = problem_.pods[gang.pods.front()].pod_class;
    const auto is_plain = [&](PodIndex pod) {
      return problem_.pods[pod].pod_class == pod_class && fit::is_pending(problem_.pods[pod]) &&
             !state_.is_present(pod);
    };
    if (!std::ranges::all_of(gang.pods, is_plain)) return std::nullopt;
    const Group& root = problem_.groups[gang.root];
    return Shape{gang.queue, gang.preemptible, gang.priority, pod_class, root.required_level, root.minimum};
  }

  // Places pods, but not in a way that invalidates evictions already decided.
  template <class Place>
  bool keep_rules(const Place& place) {
    const auto before = state_.checkpoint();
    if (place() && (!room_.has_evicted() || room_.rules_hold())) return true;
    state_.rollback(before);
    return false;
  }

  // Stale gangs are completed, or evicted.
  std::vector<PlannedEviction> settle_stale() {
    std::vector<PlannedEviction> gone;
    if (!problem_.snapshot->policy.actions.stale) return gone;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (!problem_.gangs[gang].stale) continue;
      if (placer_.may_place(gang) && placer_.place_minimum(gang)) continue;
      for (const PodIndex pod : problem_.gangs[gang].pods) {
        if (!state_.is_present(pod)) continue;
        state_.take(pod);
        gone.push_back({pod, EvictionReason::kStale, GangIndex::none()});
      }
    }
    return gone;
  }

  const Problem& problem_;
  ClusterState state_;
  QueueBounds bounds_;
  preemption::EvictionRules rules_;
  placement::NodeChooser chooser_;
  placement::GangPlacer placer_;
  StopRequest no_stop_;
  std::vector<PlannedEviction> stale_;
  preemption::PreemptionPlanner room_;
  std::set<Shape> misfits_, refused_;
};

// The gangs that wait, as KAI's queues hand them out.
class KaiOrder {
 public:
  KaiOrder(const Problem& problem, const FairShares& shares, const ClusterState& state,
           const std::vector<GangIndex>& oldest_first)
      : problem_(problem), shares_(shares), state_(state), waiting_(problem.queues.size()) {
    for (const GangIndex gang : oldest_first) waiting_[problem.gangs[gang].queue].push_back(gang);
    for (auto& gangs : waiting_) {
      std::ranges::stable_sort(gangs, std::ranges::greater(),
                               [&](GangIndex gang) { return problem.gangs[gang].priority; });
      std::ranges::reverse(gangs);  // the next one last
    }
  }

  std::optional<GangIndex> next() {
    const std::optional<QueueIndex> leaf = best_leaf(root_queues(problem_));
    if (!leaf) return std::nullopt;
    const GangIndex gang = waiting_[*leaf].back();
    waiting_[*leaf].pop_back();
    return gang;
  }

 private:
  using Rank = std::tuple<bool, bool, std::int32_t, double, double, QueueIndex>;  // least first

  // The next leaf: below the best of the queues, the best of its children.
  std::optional<QueueIndex> best_leaf(const std::vector<QueueIndex>& queues) const {
    std::optional<Rank> best;
    std::optional<QueueIndex> leaf;
    for (const QueueIndex queue : queues) {
      const bool is_leaf = problem_.queues[queue].is_leaf();
      if (is_leaf && waiting_[queue].empty()) continue;
      const std::optional<QueueIndex> below = is_leaf ? queue : best_leaf(problem_.queues[queue].children);
      if (!below) continue;
      const Rank rank = rank_of(queue, waiting_[*below].back());
      if (best && *best <= rank) continue;
      best = rank;
      leaf = below;
    }
    return leaf;
  }

  QueueAmounts asked_by(GangIndex index) const {
    QueueAmounts asked{};
    const Gang& gang = problem_.gangs[index];
    std::int32_t left = problem_.groups[gang.root].is_leaf() ? problem_.groups[gang.root].minimum
                                                             : std::numeric_limits<std::int32_t>::max();
    for (const PodIndex pod : gang.pods) {
      if (left-- <= 0) break;
      if (!fit::is_pending(problem_.pods[pod]) || state_.is_present(pod)) continue;
      const PodClass& pod_class = problem_.class_of(pod);
      asked[kQueueGpu] += pod_class.smallest_gpu_usage;
      asked[kQueueCpu] += pod_class.request[kCpu.value()];
      asked[kQueueMemory] += pod_class.request[kMemory.value()];
    }
    return asked;
  }

  Rank rank_of(QueueIndex queue, GangIndex gang) const {
    const QueueAmounts& used = state_.queues().usage()[queue];
    const QueueAmounts& share = shares_.share[queue];
    const QueueAmounts& quota = problem_.queues[queue].quota;
    const QueueAmounts asked = asked_by(gang);
    bool is_over_share = false, is_over_quota = false;
    double with = 0, without = 0;
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      if (asked[r] == 0) continue;
      is_over_share = is_over_share || used[r] > share[r];
      is_over_quota = is_over_quota || (quota[r] != kUnlimited && used[r] + asked[r] > quota[r]);
      const double part = static_cast<double>(std::max<Amount>(1, share[r]));
      with = std::max(with, static_cast<double>(used[r] + asked[r]) / part);
      without = std::max(without, static_cast<double>(used[r]) / part);
    }
    return {is_over_share, is_over_quota, -problem_.queues[queue].priority, with, without, queue};
  }

  const Problem& problem_;
  const FairShares& shares_;
  const ClusterState& state_;
  Indexed<QueueIndex, std::vector<GangIndex>> waiting_;
};

}  // namespace

Plan solve_fifo(const Problem& problem, const FairShares& shares, FifoRule rule) {
  PlanBuilder builder(problem, shares);
  const std::vector<GangIndex> gangs = builder.waiting();
  Indexed<QueueIndex, bool> is_stopped(problem.queues.size());
  for (const GangIndex gang : gangs) {
    const QueueIndex queue = problem.gangs[gang].queue;
    if (is_stopped[queue] || builder.place_minimum(gang)) continue;
    is_stopped[queue] = rule == FifoRule::kStrict;
  }
  builder.grow(gangs);
  return builder.plan();
}

Plan solve_in_kai_order(const Problem& problem, const FairShares& shares) {
  PlanBuilder builder(problem, shares);
  const std::vector<GangIndex> gangs = builder.waiting();
  std::vector<GangIndex> left;
  KaiOrder allocate(problem, shares, builder.state(), gangs);
  while (const auto gang = allocate.next()) {
    if (!builder.place_minimum(*gang)) left.push_back(*gang);
  }
  std::ranges::stable_sort(left, std::ranges::greater(),
                           [&](GangIndex gang) { return problem.gangs[gang].times.waited_seconds; });
  KaiOrder make_room(problem, shares, builder.state(), left);
  while (const auto gang = make_room.next()) {
    if (!builder.place_minimum(*gang)) builder.claim_minimum(*gang);
  }
  builder.grow(gangs);
  return builder.plan();
}

}  // namespace muster::policies
