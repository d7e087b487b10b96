// The snapshot of one cell: an ordinary snapshot, whose plan is a part of a plan of the whole.
#pragma once

#include <string>
#include <vector>

#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"
#include "solver/cells/budgets.h"

namespace muster::cells {

// The id of a cell's snapshot: that of the whole, "#" and the cell's name.
std::string cell_id(const Problem& problem, const std::string& name);

class CellSnapshots {
 public:
  // All must outlive it. Cost: O(nodes + pods + gangs).
  CellSnapshots(const Problem& problem, const Dealing& dealing);

  // Shares the text of the whole. What would reach beyond the cell is left out or pinned: gangs are not reclaimed for,
  // none are kept back for others, nodes that are held are cordoned, and pods of a gang that runs in several cells
  // stay, by a disruption budget. Cost: O(of the cell).
  Snapshot of(CellIndex cell) const;

 private:
  void add_nodes(CellIndex cell, Snapshot& out) const;
  void add_gangs(CellIndex cell, Snapshot& out) const;
  void add_pods(CellIndex cell, Snapshot& out) const;
  void set_budgets(CellIndex cell, Snapshot& out) const;
  bool is_inert(CellIndex cell, GangIndex gang) const;

  const Problem& problem_;
  const Dealing& dealing_;
  Budgets budgets_;
  std::vector<std::vector<NodeIndex>> nodes_;  // by cell
  std::vector<std::vector<GangIndex>> gangs_;
  std::vector<std::vector<PodIndex>> pods_;
};

}  // namespace muster::cells
