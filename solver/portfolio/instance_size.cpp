#include "solver/portfolio/instance_size.h"

#include <algorithm>
#include <vector>

namespace muster::portfolio {
namespace {

std::int64_t occupied_nodes(const Problem& problem) {
  std::vector<bool> is_occupied(problem.nodes.size(), false);
  for (const Pod& pod : problem.pods)
    if (!pod.node.is_none()) is_occupied[pod.node.value()] = true;
  return std::ranges::count(is_occupied, true);
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
  return size;
}

}  // namespace muster::portfolio
