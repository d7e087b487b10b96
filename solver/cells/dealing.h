// Which nodes and which gangs of one large cluster go to which of its cells: parts that are planned independently.
//
// After Narayanan et al. (POP, SOSP 2021): cells that are dealt evenly are small copies of the whole, so that little is
// lost if each is planned by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/index.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::cells {

using CellIndex = Index<struct CellTag>;

struct Dealing {
  std::vector<std::string> names;                // of the cells, by CellIndex: their number, or the value of the label
  Indexed<NodeIndex, CellIndex> cell_of_node;    // never none
  Indexed<GangIndex, CellIndex> cell_of_gang;    // which may place its pending pods; none: no cell
  Indexed<GangIndex, std::uint8_t> is_spanning;  // its pods run in several cells, and must stay
  std::size_t too_large = 0;                     // gangs with more pods than any cell has room for, by sums
  std::size_t left_out = 0;  // gangs whose rules look beyond a cell: affinity, spread, pods that run elsewhere
  std::size_t size() const { return names.size(); }
};

struct DealingOptions {
  std::size_t cells = 1;
  std::string label = {};      // not empty: one cell for each value of this node label, whatever `cells` is
  const Plan* plan = nullptr;  // of an earlier round: what it places stays in its cell, the rest is dealt again
  std::size_t round = 1;       // gangs that are left over go to other cells in each round
};

// Nodes of one kind are dealt in turn, in order of what is free. Nodes that a required topology level or a required
// anti-affinity relates go together, and so may do pods that run. Pending gangs are dealt by priority, then by size,
// each to the cell with the least load of its kind. The same snapshot gives the same cells. Cost: O(n log n) in nodes
// and gangs, O(gangs x cells).
Dealing deal(const Problem& problem, const DealingOptions& options);

// Finds which gangs run in several cells, and in which cell the others run, or have been placed by `plan` (null: none).
// Requires `cell_of_node`.
void settle_gangs(const Problem& problem, const Plan* plan, Dealing& dealing);

// Whether a gang reaches beyond its cell: it must meet other pods, or be spread evenly among nodes.
bool looks_beyond_cells(const Problem& problem, const Gang& gang);

}  // namespace muster::cells
