// Levels of the topology that groups of a gang require, or prefer: all of their pods in one domain.
#pragma once

#include <vector>

#include "solver/rows/gang_columns.h"

namespace muster::formulation {

class TopologyRows {
 public:
  // All outlive the object.
  TopologyRows(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model)
      : in_(input), columns_(columns), model_(model) {}

  // Of each group of the gang that requires a level. Cost: O(groups x domains x cells).
  void add(GangClassIndex index);
  // Adds to `preference` what the group, which prefers a level, is worth if all of it lies in one domain.
  void add_preferred(GangClassIndex index, GroupIndex group, lp::LinearExpression& preference);

 private:
  void add_domains(GangClassIndex index, GroupIndex group);
  bool is_below(GroupIndex group, GroupIndex ancestor) const;
  std::vector<CellIndex> cells_below(GangClassIndex index, GroupIndex group) const;
  std::vector<RunningCellIndex> running_below(GangClassIndex index, GroupIndex group) const;
  DomainIndex domain_of(RunningCellIndex cell, TopologyLevelIndex level) const;
  std::vector<DomainIndex> running_domains(GroupIndex group, TopologyLevelIndex level) const;
  std::vector<DomainIndex> domains_of(TopologyLevelIndex level) const;
  bool is_torn(GangClassIndex index, GroupIndex group) const;

  const FormulationInput& in_;
  const GangColumns& columns_;
  lp::ModelBuilder& model_;
};

}  // namespace muster::formulation
