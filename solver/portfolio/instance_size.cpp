#include "solver/portfolio/instance_size.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include <boost/functional/hash.hpp>

namespace muster::portfolio {
namespace {

std::int64_t occupied_nodes(const Problem& problem) {
  std::vector<bool> is_occupied(problem.nodes.size(), false);
  for (const Pod& pod : problem.pods)
    if (!pod.node.is_none()) is_occupied[pod.node.value()] = true;
  return std::ranges::count(is_occupied, true);
}

// By a hash, so that two kinds may count as one.
std::int64_t kinds_of_gangs(const Problem& problem) {
  std::int64_t kinds = 0;
  std::unordered_set<std::size_t> of_one_pod;
  for (const Gang& gang : problem.gangs) {
    if (gang.pods.size() != 1) {
      ++kinds;
      continue;
    }
    const Pod& pod = problem.pods[gang.pods.front()];
    std::size_t key = 0;
    for (const std::int64_t value :
         {static_cast<std::int64_t>(gang.queue.value()), std::int64_t{gang.priority}, std::int64_t{gang.preemptible},
          static_cast<std::int64_t>(pod.status), static_cast<std::int64_t>(pod.pod_class.value()),
          std::int64_t{pod.weighted_work}, pod.run_seconds})
      boost::hash_combine(key, value);
    of_one_pod.insert(key);
  }
  return kinds + std::ssize(of_one_pod);
}

// Whether a waiting gang could have pods evicted: by its priority, or for its queue. Without the rules of single gangs.
bool may_evict(const Problem& problem) {
  const Actions& actions = problem.snapshot->policy.actions;
  const auto is_leaf = [](const Queue& queue) { return queue.children.empty(); };
  if (actions.reclaim && std::ranges::count_if(problem.queues, is_leaf) > 1) return true;
  if (!actions.preempt) return false;
  std::optional<std::int32_t> highest, lowest;  // that waits; that runs and may leave
  for (const Pod& pod : problem.pods) {
    const Gang& gang = problem.gangs[pod.gang];
    if (pod.status == PodStatus::kPending) highest = std::max(highest.value_or(gang.priority), gang.priority);
    if (pod.status == PodStatus::kRunning && gang.preemptible)
      lowest = std::min(lowest.value_or(gang.priority), gang.priority);
  }
  return highest && lowest && *highest > *lowest;
}

}  // namespace

std::int64_t leaving_pods(const Problem& problem) {
  const Actions& actions = problem.snapshot->policy.actions;
  if (!actions.consolidate && !actions.preempt && !actions.reclaim) return 0;
  return std::ranges::count_if(problem.pods, [&](const Pod& pod) {
    return pod.status == PodStatus::kRunning && problem.gangs[pod.gang].preemptible;
  });
}

InstanceSize instance_size(const Problem& problem) {
  InstanceSize size;
  size.pods = std::ssize(problem.pods);
  size.nodes = std::ssize(problem.nodes);
  size.gangs = std::ssize(problem.gangs);
  size.occupied_nodes = occupied_nodes(problem);
  size.leaving = leaving_pods(problem);
  size.may_move = size.leaving > 0 && problem.snapshot->policy.actions.consolidate;
  if (size.leaving > 0 && may_evict(problem)) size.kinds = kinds_of_gangs(problem);
  return size;
}

}  // namespace muster::portfolio
