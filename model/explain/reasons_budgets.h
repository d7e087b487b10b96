// Which potential victims disruption budgets leave, for `makeRoom`.
#pragma once

#include "model/explain/reasons_room.h"
#include "model/problem/problem.h"

namespace muster::explain {

// The running pods that the budgets keep where they are, given the plan. If pods share a budget that allows some
// evictions, pods of low priority are evicted first, then those whose eviction clears nodes. Gangs are not considered
// as wholes, except that a gang whose pods could never be evicted together is held. All false if no budget binds. Cost:
// O(running pods x log).
Indexed<PodIndex, bool> held_by_budgets(const Problem& problem, const AfterPlan& end);

}  // namespace muster::explain
