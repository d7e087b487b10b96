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
#include "solver/column_generation/restricted_master.h"
#include "solver/formulation/formulation.h"

namespace muster::column_generation {

struct Blocks {
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kNoPoint = std::numeric_limits<std::size_t>::max();

  struct Column {
    std::vector<std::uint32_t> choice;  // by position in `rooms`: its configuration's position in the pool, or kEmpty
    std::size_t point = kNoPoint;       // the point at which it was found
    double share = 0;                   // of the block's rooms, in the last solution
  };
  struct Block {
    std::vector<formulation::ResidualClassIndex> rooms;
    std::vector<Column> columns;
    double scale = 1;  // each room represents this many; if more than 1, a limit is an estimate
  };
  // Prices of rows that columns were made at: of each room by itself, or of all rooms filled one after the other.
  struct Point {
    std::vector<double> price;
    bool is_fill = false;
  };
  std::vector<Block> blocks;
  std::vector<Point> points;
  std::vector<std::pair<std::size_t, std::size_t>> wanted;  // (block, point): columns to be made before anything else
};

// Blocks of rooms adjacent in order of size, at most about `most` of them beyond the number of zones; they begin with
// columns from the pool: the first configuration of every room, the second, and so on.
Blocks make_blocks(const RestrictedMaster& sub, std::size_t most);

// Blocks of a small sample of the rooms that represents all of them: for prices that are nearly as good, sooner.
Blocks sample_of(const RestrictedMaster& sub, const Blocks& blocks, std::size_t rooms_each);
// Starts the pricing of the whole where that of the sample, which has the same blocks, ended: for as many rooms as
// there is time for. Cost: O(demand classes) a room, 0.1 ms with thousands of them.
void start_like(RestrictedMaster& sub, const Blocks& sample, const Blocks& whole, const PricingTask& task);
// The same, and starts the whole with the columns of the sample's solution, generated again at the same prices.
void adopt_sample(RestrictedMaster& sub, const Blocks& sample, Blocks& whole, const PricingTask& task);

// As price_columns; `x` holds the demand's columns alone, and the blocks the corresponding shares. Starts with the
// existing columns of the blocks. `on_round` receives each round's solution and the best limit so far; true: enough.
using OnRound = std::function<bool(const Priced&)>;
Priced price_blocks(RestrictedMaster& sub, Blocks& blocks, const PricingTask& task, cbc::Backend& backend,
                    const OnRound& on_round);

// One pass over all rooms at the prices of `stability_center`: a dual bound, and the rooms filled one after the other;
// the result is in the blocks' shares and `x`. For a plan when there is no time for a master. Empty `x`: the time was
// up.
Priced fill_blocks(RestrictedMaster& sub, Blocks& blocks, const PricingTask& task, cbc::Backend& backend);

// Assigns the columns of every block to its rooms, each as often as its share requires.
formulation::FormulationSolution disaggregate(const RestrictedMaster& sub, const Blocks& blocks,
                                              const std::vector<double>& x);

}  // namespace muster::column_generation
