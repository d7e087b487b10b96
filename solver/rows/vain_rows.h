// Rule Not in vain (docs/semantics.md, "Evictions"), if configurations are listed.
//
// Rows      nodes that a pod of a cell has left although it could have stayed <= n_v if its gang leaves whole, 0 else;
//           the same, next to gangs alone that may evict it, <= moved pods of the cell, too; and of a gang that leaves
//           whole, with one pod on each node, fewer than all of its pods. Only for cells that nothing but capacity (or
//           a share that a reclaim keeps to) could keep out. Mostly the levels ensure this, since a staying pod adds
//           work; but a gang's smallest minimum may be worth less with one more pod.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/rows/reclaim_rows.h"
#include "solver/supply/configuration.h"

namespace muster::formulation {

class VainRows {
 public:
  // All outlive the object.
  VainRows(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions,
           const ReclaimRows& reclaims, lp::ModelBuilder& model);

  // Those of reclaims are there. Cost: O(running cells x exits).
  void add();
  std::vector<lp::Entry> entries_of(const Configuration& configuration) const;

 private:
  std::int32_t add_row(RunningCellIndex cell, const char* label);
  void add_gang_row(GangClassIndex index);
  bool may_be_kept_out(GangClassIndex index) const;

  const FormulationInput& in_;
  const GangColumns& columns_;
  const EvictionRows& evictions_;
  const ReclaimRows& reclaims_;
  lp::ModelBuilder& model_;
  Indexed<RunningCellIndex, std::int32_t> vain_rows_, right_rows_;  // -1: none
  Indexed<GangClassIndex, std::int32_t> gang_rows_;                 // likewise
};

}  // namespace muster::formulation
