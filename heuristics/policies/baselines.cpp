#include "heuristics/policies/baselines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "heuristics/policies/plan_builder.h"
#include "heuristics/state/fit.h"
#include "model/base/saturating.h"

namespace muster::policies {
namespace {

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

Plan solve_easy(const Problem& problem, const FairShares& shares) {
  PlanBuilder builder(problem, shares);
  const std::vector<GangIndex> gangs = builder.waiting();
  Indexed<QueueIndex, bool> has_head(problem.queues.size(), false);
  for (const GangIndex gang : gangs) {
    const QueueIndex queue = problem.gangs[gang].queue;
    if (builder.place_minimum(gang) || has_head[queue]) continue;
    has_head[queue] = builder.reserve(gang);
  }
  builder.grow(gangs);
  return builder.plan();
}

Plan solve_shortest_first(const Problem& problem, const FairShares& shares) {
  PlanBuilder builder(problem, shares);
  std::vector<GangIndex> gangs = builder.waiting();
  const auto turn = [&](GangIndex index) {
    const Gang& gang = problem.gangs[index];
    return std::tuple(gang.preemptible, Wide{gang.times.gpus} * gang.times.expected_duration);
  };
  std::ranges::stable_sort(gangs, {}, turn);
  for (const GangIndex gang : gangs) builder.place_minimum(gang);
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
