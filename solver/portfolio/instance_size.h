// What the time plan knows of a problem.
#pragma once

#include "model/problem/problem.h"
#include "solver/budget/time_plan.h"

namespace muster::portfolio {

// Cost: O(pods + nodes).
InstanceSize instance_size(const Problem& problem);

}  // namespace muster::portfolio
