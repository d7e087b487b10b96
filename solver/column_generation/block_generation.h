// Column generation if nearly all nodes differ: similar residual classes form a block, which has one row in the master,
// and each column holds a configuration for every residual class of its block.
//
// The dual bounds are as valid as with a row for each residual class (they come from the prices of pods alone). The
// master loses some precision but stays small at any number of residual classes. A solution mixes a few columns of each
// block: disaggregation assigns them to the similar residual classes of the block. Source: the aggregated master of
// Dantzig and Wolfe (1960), see Briant et al., "Comparison of bundle and classical column generation" (2008).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "solver/cbc/backend.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/grid_generation.h"
#include "solver/column_generation/multiplier_grid.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/formulation/formulation.h"

namespace muster::column_generation {

struct Blocks {
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

  struct Column {
    std::vector<std::uint32_t>
        choice;        // by position in `residuals`: its configuration's position in the pool, or kEmpty
    double share = 0;  // of the block's residual classes, in the last solution
  };
  struct Block {
    std::vector<formulation::ResidualClassIndex> residuals;
    std::vector<Column> columns;
  };
  std::vector<Block> blocks;
  PricePoints points;            // at which blocks get a column before the first solution
  bool is_by_residuals = false;  // the grids have nothing more to give: each residual class is priced by itself
};

// Blocks of residual classes adjacent in order of size, at most about `most` of them beyond the number of zones; they
// begin with columns from the pool: the first configuration of every residual class, the second, and so on.
Blocks make_blocks(const RestrictedMaster& restricted, std::size_t most);

// As price_columns; `x` holds the demand's columns alone, and the blocks the corresponding shares. Starts with the
// existing columns of the blocks. Columns come from the grids as long as those bring the master nearer to the bound,
// then from pricing each residual class. `on_round` receives each round's solution and the best bound so far; true:
// enough. Cost: for 10,000 residual classes 50 ms a round, by residual classes 0.6 s, and the LP.
using OnRound = std::function<bool(const Priced&)>;
Priced price_blocks(RestrictedMaster& restricted, Blocks& blocks, std::vector<MultiplierGrid>& grids,
                    const PricingTask& task, cbc::Backend& backend, const OnRound& on_round);

// Assigns the columns of every block to its residual classes, each as often as its share requires.
formulation::FormulationSolution disaggregate(const RestrictedMaster& restricted, const Blocks& blocks,
                                              const std::vector<double>& x);

}  // namespace muster::column_generation
