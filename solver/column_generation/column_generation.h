// Column generation: a formulation of what may be placed (and which pods may leave) in a given state. Its LP relaxation
// is solved over the configurations found so far, and pricing adds more until none has positive reduced profit.
//
// Sources: Gilmore and Gomory (1961) for columns by pricing; Farley (1990) for a bound at every round, here computed
// from the row prices alone, so that it holds whatever the LP's tolerances are (Neumaier and Shcherbina 2004).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/column_generation/column_pool.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/residual_class.h"

namespace muster::column_generation {

struct PricingTask {
  const lp::LinearExpression& expression;
  int sign;  // 1: maximised, -1: minimised
  Deadline deadline;
  std::int32_t threads = 1;
};

struct Priced {
  double dual_bound = lp::kInfinity;  // dual bound of sign x expression, without its constant; infinity: none
  std::vector<double> x;              // the LP's last solution; empty: none
  double value = 0;                   // of x, likewise
  std::string defect;                 // a worker that broke before its time was up
};

// An upper bound of the LP over all columns from the prices of its rows. It is the sum of the rows' sides at their
// prices, the gain of each other column beyond its price, and the value that pricing finds for the configurations
// (which is not part of this result). Prices with the wrong sign for a row without that side count as zero.
double bound_of_prices(const lp::Milp& milp, const std::vector<bool>& is_configuration, std::vector<double>& price);

// Stabilisation: a convex combination with the best known prices oscillates less than the master's prices (Wentges
// 1997).
std::vector<double> between(const std::vector<double>& stability_center, const std::vector<double>& master,
                            double part);

// Prices at `stability_center` first, if there is one.
Priced price_columns(RestrictedMaster& restricted, const PricingTask& task, cbc::Backend& backend);

}  // namespace muster::column_generation
