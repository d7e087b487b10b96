#include "model/problem/end_state.h"

#include <algorithm>

#include "model/base/require.h"

namespace muster {

EndState end_state_of(const Problem& problem, const Plan& plan) {
  EndState state{Indexed<PodIndex, NodeIndex>(problem.pods.size())};
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status == PodStatus::kRunning) state.node_of[pod] = problem.pods[pod].node;
  }
  for (const Eviction& eviction : plan.evictions) state.node_of[eviction.pod] = NodeIndex::none();
  for (const Placement& placement : plan.placements) state.node_of[placement.pod] = placement.node;
  return state;
}

bool is_placed(const Plan& plan, PodIndex pod) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(plan.placements, {}, &Placement::pod));
  return std::ranges::binary_search(plan.placements, pod, {}, &Placement::pod);
}

bool is_evicted(const Plan& plan, PodIndex pod) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(plan.evictions, {}, &Eviction::pod));
  return std::ranges::binary_search(plan.evictions, pod, {}, &Eviction::pod);
}

}  // namespace muster
