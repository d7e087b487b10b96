#include "heuristics/local_search/scope.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/saturating.h"
#include "model/objective/level_values.h"

namespace muster::local_search {

namespace {

bool is_flat(const Gang& gang) { return gang.groups.size() == 1; }

// By how many bits the work of all pods may grow.
std::size_t spare_bits(const Problem& problem) {
  Work sum = 1;
  for (const Pod& pod : problem.pods) sum = saturating_add(sum, pod.weighted_work);
  return static_cast<std::size_t>(std::countl_zero(static_cast<std::uint64_t>(sum))) - 1;
}

}  // namespace

// A price is on what leaves for one gang, and a search does not know for which one a pod moves.
MovablePods movable_pods(const preemption::EvictionRules& rules, const ClusterState& state) {
  const Problem& problem = state.problem();
  MovablePods movable;
  if (!problem.snapshot->policy.actions.consolidate || rules.price().is_set()) return movable;
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.class_of(pod).has_inter_pod_rules() || !rules.may_move(state, pod)) continue;
    if (movable.empty()) movable.assign(problem.pods.size(), 0);
    movable[pod] = 1;
  }
  return movable;
}

SearchScope::SearchScope(const Problem& problem, const FairShares& shares, const ClusterState& state, const Plan& plan,
                         Freedom freedom)
    : problem_(problem),
      shares_(shares),
      whole_nodes_(problem),
      open_(problem.nodes.size(), 1),
      is_free_(problem.pod_classes.size(), 0),
      freedom_(std::move(freedom)),
      may_drop_(problem.gangs.size(), 0),
      may_add_(problem.gangs.size(), 0),
      is_bound_(problem.gangs.size(), 0),
      spare_bits_(spare_bits(problem)),
      factor_(problem.gangs.size(), 1) {
  for (const PodClassIndex pod_class : problem.pod_classes.indices()) {
    is_free_[pod_class] = problem.pod_classes[pod_class].has_inter_pod_rules() ? 0 : 1;
  }
  for (const Eviction& eviction : plan.evictions) {
    if (!may_move(eviction.pod)) open_[problem.pods[eviction.pod].node] = 0;
  }
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kReleasing && !pod.node.is_none()) open_[pod.node] = 0;
  }
  for (const NodeIndex node : problem.nodes.indices()) {
    if (problem.class_of(node).cordoned) open_[node] = 0;
    if (open_[node] != 0) open_nodes_.push_back(node);
  }
  find_gangs(plan);
  weigh(state);
}

void SearchScope::find_gangs(const Plan& plan) {
  const bool may_place = problem_.snapshot->policy.actions.place;
  for (const GangIndex index : problem_.gangs.indices()) {
    const Gang& gang = problem_.gangs[index];
    const bool has_terms = gang.asks_for_min_resources();
    bool is_bound = false;
    for (const GroupIndex group : gang.groups) {
      const Group& g = problem_.groups[group];
      is_bound = is_bound || !g.required_level.is_none() || !g.preferred_level.is_none();
    }
    is_bound_[index] = is_bound ? 1 : 0;
    const bool is_plain = is_flat(gang) && !has_terms && !is_bound && !gang.stale && fit::queue_exists(gang);
    may_drop_[index] = is_plain ? 1 : 0;
    may_add_[index] = is_plain && may_place && fit::may_start(gang) ? 1 : 0;
  }
  for (const Eviction& eviction : plan.evictions) {
    const GangIndex victim = problem_.pods[eviction.pod].gang;
    if (may_move(eviction.pod)) continue;
    may_drop_[victim] = may_add_[victim] = 0;
    if (!eviction.for_gang.is_none()) may_drop_[eviction.for_gang] = 0;
  }
  // Others may have left for it, too.
  for (const Placement& placement : plan.placements) {
    if (open_[placement.node] == 0) may_drop_[problem_.pods[placement.pod].gang] = 0;
  }
}

bool SearchScope::may_move(PodIndex pod) const {
  const Pod& p = problem_.pods[pod];
  if (p.status == PodStatus::kRunning) return has_movable() && freedom_.movable[pod] != 0;
  return p.status == PodStatus::kPending && is_free_[p.pod_class] != 0;
}

bool SearchScope::keeps_domains(PodIndex pod, NodeIndex from, NodeIndex to) const {
  const Pod& p = problem_.pods[pod];
  if (is_bound_[p.gang] == 0 || from == to) return true;
  const auto stays = [&](TopologyLevelIndex level) {
    return level.is_none() || problem_.nodes[from].domains[level.value()] == problem_.nodes[to].domains[level.value()];
  };
  for (GroupIndex group = p.group; !group.is_none(); group = problem_.groups[group].parent) {
    if (!stays(problem_.groups[group].required_level) || !stays(problem_.groups[group].preferred_level)) return false;
  }
  return true;
}

std::int32_t SearchScope::spare(const ClusterState& state, GangIndex gang) const {
  const GroupIndex root = problem_.gangs[gang].root;
  return state.members(root) - std::max(0, problem_.groups[root].minimum);
}

bool SearchScope::is_within_share(const ClusterState& state, const Gang& gang) const {
  const auto is_below = [&](QueueIndex queue) {
    return state.queues().usage()[queue][kQueueGpu] < shares_.share[queue][kQueueGpu];
  };
  return std::ranges::all_of(problem_.queues[gang.queue].ancestors, is_below);
}

void SearchScope::weigh(const ClusterState& state) {
  const std::size_t ranks = std::max<std::size_t>(1, problem_.objective.priorities.size());
  const bool has_queues = problem_.queues.size() > 1;
  const std::size_t positions = has_queues ? 2 * ranks : ranks;
  for (const GangIndex index : problem_.gangs.indices()) {
    const Gang& gang = problem_.gangs[index];
    if (!fit::queue_exists(gang)) continue;
    std::size_t position = std::min<std::size_t>(gang.rank, ranks - 1);
    if (has_queues && !is_within_share(state, gang)) position += ranks;
    const std::size_t last = positions - 1;
    factor_[index] = std::int64_t{1} << (last == 0 ? 0 : spare_bits_ * (last - position) / last);
  }
}

}  // namespace muster::local_search
