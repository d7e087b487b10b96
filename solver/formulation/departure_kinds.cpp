#include "solver/formulation/departure_kinds.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace muster::formulation {
namespace {

// What distinguishes running pods: a gang is its own kind if it has more than one pod.
using Kind = std::tuple<PodClassIndex, Work, std::int64_t, GangIndex, QueueIndex, std::int32_t, bool>;

Kind kind_of(const Problem& problem, const Pod& pod) {
  const Gang& gang = problem.gangs[pod.gang];
  const bool is_single = gang.pods.size() == 1;
  return {pod.pod_class, pod.weighted_work, pod.run_seconds, is_single ? GangIndex::none() : pod.gang,
          gang.queue,    gang.priority,     gang.preemptible};
}

}  // namespace

std::int64_t leaving_of_kinds(const Problem& problem) {
  Indexed<NodeIndex, std::vector<Kind>> contents(problem.nodes.size(), {});
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kRunning && !pod.node.is_none()) contents[pod.node].push_back(kind_of(problem, pod));
  }
  std::set<std::pair<NodeClassIndex, std::vector<Kind>>> known;
  std::int64_t leaving = 0;
  for (const NodeIndex node : problem.nodes.indices()) {
    std::vector<Kind>& pods = contents[node];
    std::ranges::sort(pods);
    const std::int64_t here = std::ranges::count_if(pods, [](const Kind& kind) { return std::get<bool>(kind); });
    if (here > 0 && known.emplace(problem.nodes[node].node_class, std::move(pods)).second) leaving += here;
  }
  return leaving;
}

}  // namespace muster::formulation
