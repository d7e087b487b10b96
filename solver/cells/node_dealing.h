// Nodes of a cluster, dealt to cells.
#pragma once

#include "model/problem/problem.h"
#include "solver/cells/cells.h"

namespace muster::cells {

// Fills in `names` and `cell_of_node`.
void deal_nodes(const Problem& problem, const DealingOptions& options, Dealing& dealing);

// Of each node: what running and releasing pods use of gpu (MicroGpu), cpu, memory.
Indexed<NodeIndex, QueueAmounts> used_of_nodes(const Problem& problem);
// What nodes of a class have of the same.
QueueAmounts capacity_of(const NodeClass& node_class);

}  // namespace muster::cells
