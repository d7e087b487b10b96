// Column generation if nearly all nodes differ: similar rooms form a block, which has one row in the master, and each
// column holds a configuration for every room of its block.
//
// The dual bounds are as valid as with a row for each room (they come from the prices of pods alone). The master loses
// some precision but stays small at any number of rooms. A solution mixes a few columns of each block: disaggregation
// assigns them to the similar rooms of the block. Source: the aggregated master of Dantzig and Wolfe (1960), see Briant
// et al., "Comparison of bundle and classical column generation" (2008).
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
    std::vector<std::uint32_t> choice;  // by position in `rooms`: its configuration's position in the pool, or kEmpty
    double share = 0;                   // of the block's rooms, in the last solution
  };
  struct Block {
    std::vector<formulation::ResidualClassIndex> rooms;
    std::vector<Column> columns;
  };
  std::vector<Block> blocks;
  PricePoints points;        // at which blocks get a column before the first solution
  bool is_by_rooms = false;  // the grids have nothing more to give: each room is priced by itself
};

// Blocks of rooms adjacent in order of size, at most about `most` of them beyond the number of zones; they begin with
// columns from the pool: the first configuration of every room, the second, and so on.
Blocks make_blocks(const RestrictedMaster& sub, std::size_t most);

// As price_columns; `x` holds the demand's columns alone, and the blocks the corresponding shares. Starts with the
// existing columns of the blocks. Columns come from the grids as long as those bring the master nearer to the bound,
// then from pricing each room. `on_round` receives each round's solution and the best limit so far; true: enough. Cost:
// for 10,000 rooms 50 ms a round, by rooms 0.6 s, and the LP.
using OnRound = std::function<bool(const Priced&)>;
Priced price_blocks(RestrictedMaster& sub, Blocks& blocks, std::vector<MultiplierGrid>& grids, const PricingTask& task,
                    cbc::Backend& backend, const OnRound& on_round);

// Assigns the columns of every block to its rooms, each as often as its share requires.
formulation::FormulationSolution disaggregate(const RestrictedMaster& sub, const Blocks& blocks,
                                              const std::vector<double>& x);

}  // namespace muster::column_generation
