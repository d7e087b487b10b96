// Nodes without the running pods that may leave: the supply for choosing gangs before they get their places.
#pragma once

#include <optional>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/demand/demand.h"
#include "solver/supply/residual_class.h"

namespace muster::formulation {

// Rooms without residents: nodes are alike if their class, zone and free capacity in `base` are, where those that may
// leave have left. A residual class takes every demand class that fits into it empty, and the running pods that run
// there. Anti-affinity, affinity and spread are not examined, so that what can be placed at all fits into this supply.
//
// None if pods that may leave take more of a node than it reports (model/problem/exceeded.h): next to what is free
// there they could not be told to stay. Cost: O(nodes x (resources + devices) + residual classes x demand classes).
std::optional<Supply> collect_pooled_supply(const Problem& problem, const Demand& demand, const PlacementZones& zones,
                                            const ClusterState& base);

}  // namespace muster::formulation
