// What a pooled formulation asks of the supply: pods without places, by demand class and zone.
#pragma once

#include <vector>

#include "solver/rows/gang_columns.h"

namespace muster::formulation {

// Pods of one demand class in one zone (none: anywhere).
struct AskedPods {
  DemandIndex demand;
  ZoneIndex zone;
  lp::LinearExpression pods;
};

// Every pod that is placed or stays, wherever it runs now. Cost: O(cells x zones).
std::vector<AskedPods> asked_pods(const FormulationInput& input, const GangColumns& columns);
// The zone in which all pods of the cell run; none if they run in several, or if there is only one.
ZoneIndex zone_of(const FormulationInput& input, RunningCellIndex cell);

}  // namespace muster::formulation
