// The grids of all nodes of a master, and their pods in its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/column_generation/demand_side.h"
#include "solver/column_generation/multiplier_grid.h"
#include "solver/column_generation/restricted_master.h"

namespace muster::column_generation {

// The nodes that can hold a pod, by kinds. Requires that no pod may leave, and a formulation.
std::vector<MultiplierGrid> make_grids(const RestrictedMaster& restricted);

// The row of the whole model that counts pods on the nodes of a grid; the same for all of these. Requires that such
// pods fit there.
std::int32_t supply_row(const RestrictedMaster& restricted, const MultiplierGrid& grid,
                        formulation::DemandIndex demand);

// By DemandIndex, at prices of the rows of the whole model; 0 for pods that fit nowhere in the grid.
std::vector<double> pod_prices(const RestrictedMaster& restricted, const MultiplierGrid& grid,
                               const std::vector<double>& row_price);

// By DemandIndex: pods that a solution places, which begins with the columns of the demand side.
std::vector<double> asked_pods(const RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids,
                               const DemandSide& side, const std::vector<double>& x);

}  // namespace muster::column_generation
