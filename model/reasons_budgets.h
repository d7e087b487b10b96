// What disruption budgets leave of the victims that room could be made by, for `makeRoom`.
#pragma once

#include "model/problem.h"
#include "model/reasons_room.h"

namespace muster {

// The running pods that stay where they are beside the plan, as the budgets have nothing left for them. Of pods that
// share a budget which lets some go, those of low priority go first, and then those whose nodes they clear. Gangs are
// not looked at as wholes, but that one whose pods could never go together is held. All false where no budget binds.
// Cost: O(running pods x log).
Indexed<PodIndex, bool> held_by_budgets(const Problem& problem, const AfterPlan& end);

}  // namespace muster
