#include "heuristics/local_search/plan_state.h"

#include <utility>

#include "heuristics/state/plan_of.h"

namespace muster::local_search {

PlanState::PlanState(const Plan& plan, ClusterState before)
    : bounds(queue_bounds(before.problem(), before)), state(std::move(before)) {
  evictions = carry_out(plan, state);
}

}  // namespace muster::local_search
