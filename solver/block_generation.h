// Column generation where nearly every node is another one: rooms that are alike form a block, which has one row in the
// master, and each column holds a configuration for every room of its block at once.
//
// The limits are as valid as with a row for each room (they come from the prices of pods alone); what is given up is
// some precision of the master, for one that stays small at any number of rooms. A solution mixes a few columns of each
// block: the rooms of a block, which are alike, are dealt out among them. Source: the aggregated master of Dantzig and
// Wolfe (1960), see Briant et al., "Comparison of bundle and classical column generation" (2008).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "solver/backend.h"
#include "solver/column_generation.h"
#include "solver/formulation.h"

namespace muster {

struct Blocks {
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kNoPoint = std::numeric_limits<std::size_t>::max();

  struct Column {
    std::vector<std::uint32_t> choice;  // by position in `rooms`: its configuration's position in the pool, or kEmpty
    std::size_t point = kNoPoint;       // where it was found
    double share = 0;                   // of the block's rooms, in the last solution
  };
  struct Block {
    std::vector<RoomClassIndex> rooms;
    std::vector<Column> columns;
    double scale = 1;  // each room stands for so many; where that is more than 1, a limit is an estimate
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

// Blocks of neighbours in size, at most about `most` of them beyond the number of atoms; they begin with columns of
// what the pool knows: the first configuration of every room, the second, and so on.
Blocks make_blocks(const Subproblem& sub, std::size_t most);

// Blocks of so few of the rooms of each that stand for all of them: for prices that are nearly as good, sooner.
Blocks sample_of(const Subproblem& sub, const Blocks& blocks, std::size_t rooms_each);
// Lets the pricing of the whole begin where that of the sample, which is of the same blocks, ended: of as many rooms as
// there is time for. Cost: O(demand classes) a room, 0.1 ms where there are thousands of them.
void start_like(Subproblem& sub, const Blocks& sample, const Blocks& whole, const PricingTask& task);
// The same, and lets the whole begin with the columns that the sample's solution is made of, found anew at the same
// prices.
void adopt_sample(Subproblem& sub, const Blocks& sample, Blocks& whole, const PricingTask& task);

// As price_columns; `x` holds the demand's columns alone, and the blocks the shares that go with it. Starts with the
// columns that the blocks have. `on_round` sees each round's solution and the best limit so far; true: enough.
using OnRound = std::function<bool(const Priced&)>;
Priced price_blocks(Subproblem& sub, Blocks& blocks, const PricingTask& task, Backend& backend,
                    const OnRound& on_round);

// One pass over all rooms at the prices of `center`: a limit, and the rooms filled one after the other, which the
// blocks' shares and `x` then tell. For a plan when there is no time for a master. Empty `x`: the time was up.
Priced fill_blocks(Subproblem& sub, Blocks& blocks, const PricingTask& task, Backend& backend);

// Deals the rooms of every block out among its columns, each as often as its share says.
FormulationSolution deal_blocks(const Subproblem& sub, const Blocks& blocks, const std::vector<double>& x);

}  // namespace muster
