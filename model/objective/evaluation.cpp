#include "model/objective/evaluation.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "model/base/saturating.h"
#include "model/objective/free_capacity.h"
#include "model/objective/gang_units.h"
#include "model/objective/level_values.h"
#include "model/objective/levels.h"
#include "model/objective/possibilities.h"
#include "model/objective/wholeness.h"
#include "model/problem/eviction_loss.h"
#include "model/problem/next_snapshot.h"

namespace muster {
namespace {

// Pods that are present and count in a leaf queue, gang by gang.
struct PresentWork {
  UnitCounts units;
  QueueWork unweighted;
  std::vector<Work> weighted;  // by rank
};

void add_units(const Problem& problem, GangIndex index, std::size_t rank, const std::vector<PodIndex>& present,
               PresentWork& sums) {
  const Gang& gang = problem.gangs[index];
  const Group& root = problem.groups[gang.root];
  if (gang.pods.size() == 1 && root.is_leaf() && root.minimum <= 1) {  // what gang_units() says of it
    const PodClass& pod_class = problem.class_of(present.front());
    if (pod_class.work > 0) sums.units.add(gang.queue, kind_of(pod_class), rank, {pod_class.work, 1});
    return;
  }
  for (const std::array<Work, 2>& unit : gang_units(problem, index, present)) {
    for (std::size_t kind = 0; kind < unit.size(); ++kind) {
      if (unit[kind] > 0) sums.units.add(gang.queue, kind, rank, {unit[kind], 1});
    }
  }
}

void add_work(const Problem& problem, const Gang& gang, std::size_t rank, const std::vector<PodIndex>& present,
              PresentWork& sums) {
  for (const PodIndex pod : present) {
    const PodClass& pod_class = problem.class_of(pod);
    Work& work = sums.unweighted.of_rank[rank][gang.queue][kind_of(pod_class)];
    work = saturating_add(work, pod_class.work);
    sums.weighted[rank] = saturating_add(sums.weighted[rank], problem.pods[pod].weighted_work);
  }
}

PresentWork present_work(const Problem& problem, const EndState& end_state) {
  const std::size_t ranks = problem.objective.priorities.size();
  PresentWork sums{UnitCounts(problem.queues.size()),
                   {std::vector(ranks, Indexed<QueueIndex, WorkByKind>(problem.queues.size(), WorkByKind{}))},
                   std::vector<Work>(ranks, 0)};
  std::vector<PodIndex> present;
  for (const GangIndex index : problem.gangs.indices()) {
    const Gang& gang = problem.gangs[index];
    // What has neither run nor been pending has no level; only a plan against the rules could make it present.
    const std::size_t rank = gang.rank;
    if (!gang.queue_is_leaf || rank == ranks) continue;
    present.clear();
    std::ranges::copy_if(gang.pods, std::back_inserter(present),
                         [&](PodIndex pod) { return end_state.is_present(pod); });
    if (present.empty()) continue;
    add_units(problem, index, rank, present, sums);
    add_work(problem, gang, rank, present, sums);
  }
  return sums;
}

// By queue: the highest priority of the gangs that the plan places there and that may preempt.
Indexed<QueueIndex, std::int32_t> highest_preempting(const Problem& problem, const Plan& plan) {
  Indexed<QueueIndex, std::int32_t> highest(problem.queues.size(), std::numeric_limits<std::int32_t>::min());
  for (const Placement& placement : plan.placements) {
    const Pod& pod = problem.pods[placement.pod];
    const Gang& gang = problem.gangs[pod.gang];
    if (pod.status == PodStatus::kPending && gang.preemption_policy != PreemptionPolicy::kNever)
      highest[gang.queue] = std::max(highest[gang.queue], gang.priority);
  }
  return highest;
}

// What leaves, and the parts of it by priority.
struct EvictedValues {
  std::int64_t evicted = 0, moved = 0;
  std::vector<std::int64_t> preempted, beyond;
};

// What goes out as stale counts not.
EvictedValues evicted_values(const Problem& problem, const FairShares& shares, const Plan& plan) {
  const ObjectiveTerms& terms = problem.objective;
  EvictedValues values{.preempted = std::vector<std::int64_t>(terms.preemptible.size(), 0),
                       .beyond = std::vector<std::int64_t>(terms.evictable.size(), 0)};
  if (plan.evictions.empty()) return values;
  const bool has_parts = !terms.evictable.empty();
  const Indexed<QueueIndex, std::int32_t> highest =
      has_parts ? highest_preempting(problem, plan) : Indexed<QueueIndex, std::int32_t>();
  for (const Eviction& eviction : plan.evictions) {
    const Pod& pod = problem.pods[eviction.pod];
    if (is_placed(plan, eviction.pod)) {
      values.moved = saturating_add(values.moved, pod.weighted_work);
      continue;
    }
    if (eviction.reason == EvictionReason::kStale) continue;
    const std::int64_t loss = evicted_value(pod);
    values.evicted = saturating_add(values.evicted, loss);
    if (!has_parts) continue;
    const Gang& gang = problem.gangs[pod.gang];
    const bool is_beyond = shares.beyond[pod.gang];
    if (!is_beyond && highest[gang.queue] <= gang.priority) continue;
    const std::vector<std::int32_t>& priorities = is_beyond ? terms.evictable : terms.preemptible;
    std::vector<std::int64_t>& sums = is_beyond ? values.beyond : values.preempted;
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      if (gang.priority >= priorities[i]) sums[i] = saturating_add(sums[i], loss);
    }
  }
  return values;
}

// Of pods that are newly placed: a moved one has had its turn.
std::int64_t seniority_value(const Problem& problem, const Plan& plan) {
  std::int64_t sum = 0;
  for (const Placement& placement : plan.placements) {
    if (problem.pods[placement.pod].status == PodStatus::kRunning) continue;
    sum = saturating_add(sum, seniority_of(problem, placement.pod));
  }
  return sum;
}

Levels evaluate_presence(const Problem& problem, const FairShares& shares, const Plan& plan,
                         const EndState& end_state) {
  PresentWork present = present_work(problem, end_state);
  std::vector<Work> work;
  for (const Work of_rank : present.weighted) work.push_back(saturating_add(work.empty() ? 0 : work.back(), of_rank));
  EvictedValues left = evicted_values(problem, shares, plan);
  return in_order(problem, {.share = share_values(problem, shares, present.units.take()),
                            .quota = quota_values(problem, shares, present.unweighted),
                            .work = std::move(work),
                            .preempted = std::move(left.preempted),
                            .evicted_beyond = std::move(left.beyond),
                            .evicted = left.evicted,
                            .moved = left.moved,
                            .seniority = seniority_value(problem, plan)});
}

void add_levels_of_places(const Problem& problem, const Plan& plan, const EndState& end_state,
                          const std::function<NodeEnd(NodeIndex)>& end_of, Levels& levels) {
  const bool is_binpack = problem.snapshot->policy.placement == PlacementPolicy::kBinpack;
  if (problem.snapshot->policy.has_whole_nodes()) {
    const WholenessValues wholeness = wholeness_values(problem, plan, end_state);
    levels.values.insert(levels.values.end(), wholeness.begin(), wholeness.end());
  }
  levels.values.push_back(preference_value(problem, plan, end_state));
  levels.values.push_back(is_binpack ? fragmentation_value(problem, end_of) : spread_value(problem, end_of));
}

Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan, const EndState& end_state,
                const std::function<NodeEnd(NodeIndex)>& end_of) {
  Levels levels = evaluate_presence(problem, shares, plan, end_state);
  add_levels_of_places(problem, plan, end_state, end_of, levels);
  return levels;
}

}  // namespace

std::int64_t seniority_of(const Problem& problem, PodIndex index) {
  const Pod& pod = problem.pods[index];
  return saturating_multiply(pod.weighted_work, problem.gangs[pod.gang].times.seniority);
}

Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan) {
  const EndState end_state = end_state_of(problem, plan);
  const FreeCapacity room(problem, plan, end_state);
  return evaluate(problem, shares, plan, end_state, [&](NodeIndex node) { return room.of(node); });
}

Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan,
                const std::function<NodeEnd(NodeIndex)>& end_of) {
  return evaluate(problem, shares, plan, end_state_of(problem, plan), end_of);
}

Levels evaluate_presence(const Problem& problem, const FairShares& shares, const Plan& plan) {
  return evaluate_presence(problem, shares, plan, end_state_of(problem, plan));
}

Levels evaluate_places(const Problem& problem, const Plan& plan, const Levels& presence) {
  Levels levels;
  levels.values.assign(presence.values.begin(), presence.values.begin() + levels_of_presence(problem));
  const EndState end_state = end_state_of(problem, plan);
  const FreeCapacity room(problem, plan, end_state);
  add_levels_of_places(
      problem, plan, end_state, [&](NodeIndex node) { return room.of(node); }, levels);
  return levels;
}

}  // namespace muster
