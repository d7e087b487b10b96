// The units in which the share level counts a gang.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// The units of a gang among `present` (pods that run or are placed): first the least work that satisfies it, then each
// pod beyond it. [gpu work, cpu-only work] of each unit, without weight. Empty where its minimum is not met.
std::vector<std::array<Work, 2>> gang_units(const Problem& problem, GangIndex gang, std::span<const PodIndex> present);

}  // namespace muster
