// Which nodes and which gangs of one large cluster go to which of its cells: parts that are planned independently.
//
// After Narayanan et al. (POP, SOSP 2021): cells that are dealt evenly are small copies of the whole, so that little is
// lost if each is planned by itself.
#pragma once

#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/cells/budgets.h"

namespace muster::cells {

// Nodes of one kind are dealt in turn, in order of what is free. Nodes that a required topology level or a required
// anti-affinity relates go together, and so may do pods that run. Pending gangs are dealt by priority, then by size,
// each to the cell with the least load of its kind. The same snapshot gives the same cells. Cost: O(n log n) in nodes
// and gangs, O(gangs x cells).
Dealing deal(const Problem& problem, const DealingOptions& options);

// Finds which gangs run in several cells, and in which cell the others run, or have been placed by `plan` (null: none).
// Requires `cell_of_node`.
void settle_gangs(const Problem& problem, const Plan* plan, Dealing& dealing);

// Gangs that the plan places in several cells or outside their own, or moves to another: no cell can plan them alone.
Indexed<GangIndex, std::uint8_t> scattered_gangs(const Problem& problem, const Dealing& dealing, const Plan& plan);

// Whether a gang reaches beyond its cell: it must meet other pods, or be spread evenly among nodes.
bool looks_beyond_cells(const Problem& problem, const Gang& gang);

// Nodes of a cluster, dealt to cells.
//
// Fills in `names` and `cell_of_node`.
void deal_nodes(const Problem& problem, const DealingOptions& options, Dealing& dealing);

// Of each node: what running and releasing pods use of gpu (MicroGpu), cpu, memory.
Indexed<NodeIndex, QueueAmounts> used_of_nodes(const Problem& problem);
// What nodes of a class have of the same.
QueueAmounts capacity_of(const NodeClass& node_class);

}  // namespace muster::cells
