// Contents of thousands of nodes that differ, at known prices: of each node by itself, or a plan for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/base/index.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/multiplier_grid.h"
#include "solver/column_generation/restricted_master.h"

namespace muster::column_generation {

// By residual class: configurations, as positions in the pool, and how many nodes get each.
using ChosenConfigurations = std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>;

// A plan: node after node takes its best content of the pods left. Empty: the time was up.
//
// Nodes come in a random order, which is always the same, in a fixed number of shards, each with its part of the
// demand. The prices are `row_price`; they rise for pods of which fewer have been placed than `asked` (by DemandIndex,
// for all nodes) would have by then, and fall for others. So what is asked for is shared out among all nodes, and no
// node gets the rest. Cost: 10 us a node, with two threads.
ChosenConfigurations fill_on_grids(RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids,
                                   const PricingTask& task, const std::vector<double>& row_price,
                                   const std::vector<double>& asked);

struct ResidualContent {
  formulation::Configuration configuration;
  double dual_bound = 0;  // no configuration is worth more
};
using ResidualContents = Indexed<formulation::ResidualClassIndex, ResidualContent>;

// Of every wanted residual class by itself, a good content at these prices, which the grids get. Empty: the time was
// up. Cost: 10 us a residual class, with two threads.
ResidualContents contents_on_grids(const RestrictedMaster& restricted, std::vector<MultiplierGrid>& grids,
                                   const PricingTask& task, const std::vector<double>& row_price,
                                   const Indexed<formulation::ResidualClassIndex, bool>& is_wanted);

}  // namespace muster::column_generation
