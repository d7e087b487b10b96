// What bounds evictions and moves as a whole: disruption budgets, the number of moves, what a gang needs free.
#pragma once

#include "solver/rows/eviction_rows.h"

namespace muster::formulation {

// On the nodes that an admitted gang could use, what is free without the pods that may leave, minus what the staying
// and moved ones take, covers the gang's minResources. Cost: O(gangs that lack some x (nodes + running cells)).
void add_min_resources(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model);
// Pods of a disruption budget's running cells that do not stay <= what it allows. Only budgets that could bind are
// among those of the problem. Cost: O(running cells x budgets of each).
void add_budget_rows(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model);
// What leaves for the claimants of a channel costs at most what rule Price allows them, see PriceRows. Cost: O(exits).
void add_price_rows(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions,
                    lp::ModelBuilder& model);
// Sum of moved pods <= maxMoves. Cost: O(running cells).
void add_move_row(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model);

}  // namespace muster::formulation
