// The supply side in sum: nodes with equally many idle devices are one heap of devices, cores and bytes.
//
// A relaxation of the configurations: whatever stands on the nodes of a class fits into their sum. It is small at any
// size of the cluster, and its row prices are close to those of the configurations themselves. Measured with
// prototypes: the bound that one round of pricing makes of them is within half a percent of the one that column
// generation ends with.
#pragma once

#include <vector>

#include "solver/backend.h"
#include "solver/column_generation.h"

namespace muster {

// Prices of the formulation's rows from the LP relaxation with, for each class of rooms (atom, memory of a device, idle
// devices) and each demand class that fits there, a column "pods of it there", and rows of what the class has in sum.
// Where all that is asked for fits into the sums, nothing is scarce and pods have no price; then from sums that are
// smaller than they are. Empty: the time was up. Cost: one or two LPs whose size does not depend on the number of
// nodes.
std::vector<double> prices_in_sum(const Subproblem& sub, const PricingTask& task, Backend& backend);

// Prices of all rows that go with known prices of pods (by DemandIndex, in units of the task's expression): those of
// the LP in which pods are not placed but bought. Empty: the time was up. Cost: one LP of the demand's size.
std::vector<double> prices_of_pods(const Subproblem& sub, const PricingTask& task, const std::vector<double>& pods,
                                   Backend& backend);

}  // namespace muster
