#include "heuristics/local_search/plan_state.h"

#include <utility>

namespace muster::local_search {

PlanState::PlanState(const Plan& plan, ClusterState before)
    : bounds(queue_bounds(before.problem(), before)), state(std::move(before)) {
  for (const Eviction& eviction : plan.evictions) {
    state.take(eviction.pod);
    evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
  }
  for (const Placement& placement : plan.placements) state.put(placement.pod, placement.node, placement.devices);
}

}  // namespace muster::local_search
