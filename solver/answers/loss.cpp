#include "solver/answers/loss.h"

#include <algorithm>
#include <set>

#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::answers {

namespace {

// Where the pod goes; none: it is not placed.
const Placement* placement_of(const Plan& plan, PodIndex pod) {
  const auto placed = std::ranges::lower_bound(plan.placements, pod, {}, &Placement::pod);
  return placed != plan.placements.end() && placed->pod == pod ? &*placed : nullptr;
}

}  // namespace

Loss loss_of(const Run& run) {
  Loss loss;
  std::set<GangIndex> gangs;
  const Plan& plan = run.solution.plan;
  for (const Eviction& eviction : plan.evictions) {
    const bool is_moved = placement_of(plan, eviction.pod) != nullptr;
    std::int64_t& work = is_moved ? loss.moved_work : loss.evicted_work;
    work = saturating_add(work, muster::loss_of(run.problem, eviction.pod));
    ++(is_moved ? loss.moved_pods : loss.evicted_pods);
    if (!is_moved) gangs.insert(run.problem.pods[eviction.pod].gang);
  }
  loss.evicted_gangs = static_cast<std::int64_t>(gangs.size());
  return loss;
}

std::vector<LeavingPod> leaving_pods(const Run& run, std::optional<GangIndex> for_gang) {
  const Snapshot& snapshot = *run.snapshot;
  const auto node_name = [&](NodeIndex node) { return std::string(snapshot.nodes[node.value()].name); };
  std::vector<LeavingPod> leaving;
  for (const Eviction& eviction : run.solution.plan.evictions) {
    if (for_gang && eviction.for_gang != *for_gang) continue;
    const Pod& pod = run.problem.pods[eviction.pod];
    const Placement* placed = placement_of(run.solution.plan, eviction.pod);
    leaving.push_back({std::string(snapshot.pods[eviction.pod.value()].name),
                       std::string(run.problem.gangs[pod.gang].name), node_name(pod.node),
                       placed == nullptr ? std::string() : node_name(placed->node)});
  }
  return leaving;
}

}  // namespace muster::answers
