// Prices and a bound for thousands of nodes that differ, by column generation on grids of multipliers.
//
// The master has a row for what is asked of each demand class, and one for each block of similar nodes; a column is
// what the nodes of a block hold together at some prices, in fractions of pods. So it stays small at any number of
// nodes. The bound comes from the prices alone and holds whatever the master is. Sources: Dantzig and Wolfe (1960);
// Wentges (1997) for the smoothing of prices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/base/index.h"
#include "solver/cbc/backend.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/multiplier_grid.h"
#include "solver/column_generation/restricted_master.h"

namespace muster::column_generation {

// Row prices, each once, and by residual class those at which its nodes hold what a solution gives them. Residual
// classes that hold no pod have none.
struct PricePoints {
  std::vector<std::vector<double>> prices;
  Indexed<formulation::ResidualClassIndex, std::vector<std::size_t>> of_residual;  // positions in `prices`
};

struct GridPrices {
  double dual_bound = lp::kInfinity;  // as of Priced
  double value = 0;                   // of the master
  std::vector<double> asked;          // by DemandIndex: pods that the master places; empty: it was not solved
  PricePoints points;                 // of the master's solution
  // Prices were found on a part of the residual classes; `asked` and `points` are of the last master of that part.
  bool is_of_a_part = false;
  std::string defect;  // as of Priced
};

// Begins with the stability center; the best prices become it. `on_round` receives each round's master and the best
// bound; true: enough. Where there are thousands of residual classes, prices are found on a part of them first: until
// `is_of_a_part`, the only bound is that of the first center, and all rounds from then on serve the bound alone. Ends
// where both are within GridTuning::gap. Cost: 3 ms a round for 10,000 nodes with two threads, and an LP that grows by
// a column a block; 60 to 90 rounds.
GridPrices price_on_grids(RestrictedMaster& restricted, std::vector<MultiplierGrid>& grids, const PricingTask& task,
                          cbc::Backend& backend, const std::function<bool(const GridPrices&)>& on_round);

}  // namespace muster::column_generation
