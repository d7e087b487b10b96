// Gangs that are placed, or kept, whole or not at all: their columns, and the rows of their minimum.
#pragma once

#include <cstdint>

#include "solver/rows/gang_columns.h"

namespace muster::formulation {

class GangRows {
 public:
  // All outlive the object.
  GangRows(const FormulationInput& input, GangColumns& columns, lp::ModelBuilder& model)
      : in_(input), columns_(columns), model_(model) {}

  // The columns of the class and of its cells; and its rows, if nothing of it may leave (else see add_tree). Cost:
  // O(cells x zones + groups).
  void add(GangClassIndex index);
  // The rows of a class of one gang, group by group. Requires its column; those of its exits are there.
  void add_tree(GangClassIndex index);
  // Whether its columns are split by zones because of a level that some group requires or prefers.
  bool asks_for_topology(GangClassIndex index) const;

 private:
  std::int64_t most_gangs(GangClassIndex index);
  std::int64_t most_pods(DemandIndex demand);
  void add_cell_columns(CellIndex cell, bool located);
  std::int32_t add_satisfied(GangClassIndex index, GroupIndex group);

  const FormulationInput& in_;
  GangColumns& columns_;
  lp::ModelBuilder& model_;
  Indexed<DemandIndex, std::int64_t> most_pods_;  // once asked for
};

}  // namespace muster::formulation
