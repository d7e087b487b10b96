// What the time plan knows of a problem.
#pragma once

#include <cstdint>

#include "model/problem/problem.h"
#include "solver/budget/time_plan.h"

namespace muster::portfolio {

// Running pods that may be evicted or moved. Cost: O(pods).
std::int64_t leaving_pods(const Problem& problem);

// Cost: O(pods + nodes).
InstanceSize instance_size(const Problem& problem);

}  // namespace muster::portfolio
