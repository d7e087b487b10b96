// The supply side as sums: nodes with equally many idle devices are one aggregate of devices, cores and bytes.
//
// A relaxation of the configurations: the contents of the nodes of a class fit into their sum. It is small at any size
// of the cluster, and its row prices are close to those of the configurations themselves. Measured with prototypes: the
// bound that one round of pricing derives from them is within half a percent of the final bound of column generation.
#pragma once

#include <vector>

#include "solver/cbc/backend.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/restricted_master.h"

namespace muster::column_generation {

struct AggregatePrices {
  std::vector<double> price;  // of the formulation's rows; empty: the time was up
  std::vector<double> asked;  // by DemandIndex: pods that are placed
};

// From an LP relaxation with, for each class of residual classes (zone, memory of a device, idle devices) and each
// demand class that fits there, a column "pods of it there", and rows for the total capacity of the class. If all
// demand fits into the sums, nothing is scarce and pods have no price; then the LP is solved again with reduced sums.
// Cost: one or two LPs whose size does not depend on the number of nodes.
AggregatePrices aggregate_prices(const RestrictedMaster& restricted, const PricingTask& task, cbc::Backend& backend);

// Prices of all rows for known prices of pods (by DemandIndex, in units of the task's expression): those of the LP in
// which pods are not placed but bought. Empty: the time was up. Cost: one LP of the demand's size.
std::vector<double> prices_of_pods(const RestrictedMaster& restricted, const PricingTask& task,
                                   const std::vector<double>& pods, cbc::Backend& backend);

}  // namespace muster::column_generation
