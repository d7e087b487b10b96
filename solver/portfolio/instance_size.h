// What the time plan knows of a problem.
#pragma once

#include "model/problem/problem.h"
#include "solver/budget/time_plan.h"

namespace muster::portfolio {

// Cost: O(pods + nodes), and that of leaving_of_kinds if the policy lets pods leave.
InstanceSize instance_size(const Problem& problem);

}  // namespace muster::portfolio
