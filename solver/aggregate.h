// The supply side in sum: nodes with equally many idle devices are one heap of devices, cores and bytes.
//
// A relaxation of the configurations: whatever stands on the nodes of a class fits into their sum. It is small at any
// size of the cluster, and its row prices are close to those of the configurations themselves. Measured with
// prototypes: the bound that one round of pricing makes of them is within half a percent of the one that column
// generation ends with.
#pragma once

#include "solver/demand.h"
#include "solver/formulation.h"
#include "solver/milp.h"
#include "solver/room.h"

namespace muster {

// Adds, for each class of rooms (atom, memory of a device, idle devices) and each demand class that fits there, a
// column "pods of it there" to the model of a formulation, and the rows of what the class has in sum. The formulation's
// own rows keep their positions.
void add_supply_in_sum(const Problem& problem, const Demand& demand, const Supply& supply,
                       const Formulation& formulation, Milp& milp);

}  // namespace muster
