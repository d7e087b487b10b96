// What nodes hold: how many nodes of each residual class are in which configuration, and that these have the pods that
// are placed or stay.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "solver/rows/gang_columns.h"
#include "solver/supply/configuration.h"

namespace muster::formulation {

class SupplyRows {
 public:
  struct Column {
    std::int32_t column;
    std::int64_t last_level;
    std::vector<std::pair<DemandIndex, std::int32_t>> counts;
  };
  // By residual class: (position of the configuration, nodes).
  using Chosen = std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>;

  // All outlive the object.
  SupplyRows(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model);

  // All of its rows; configurations come later. Cost: O(demand classes x zones or parts + residual classes).
  void add();
  // Pods that are placed, by demand class and part; -1: none may be; empty: the class has no parts.
  const Indexed<DemandIndex, std::vector<std::int32_t>>& part_columns() const { return part_columns_; }

  std::int32_t supply_row(DemandIndex demand, ResidualClassIndex residual) const;  // requires that it fits there
  std::int32_t capacity_row(ResidualClassIndex residual) const { return capacity_rows_[residual]; }
  std::vector<lp::Entry> entries_of(ResidualClassIndex residual, const Configuration& configuration) const;
  // A column for the configuration, whose entries are the caller's.
  std::int32_t add_column(ResidualClassIndex residual, const Configuration& configuration);
  const std::vector<Column>& columns_of(ResidualClassIndex residual) const { return configurations_[residual]; }

  Chosen read(const std::vector<double>& x) const;
  // Of each residual class the whole nodes of every configuration, then the largest remainders.
  Chosen round(const std::vector<double>& x) const;

 private:
  void add_parts();
  void add_supply_rows();
  void add_part_rows(DemandIndex demand, const std::vector<CellIndex>& located, const std::vector<CellIndex>& free);
  std::int32_t add_supply_row(const lp::LinearExpression& asked, std::string label);
  void add_capacity_rows();

  const FormulationInput& in_;
  const GangColumns& columns_;
  lp::ModelBuilder& model_;
  Indexed<DemandIndex, std::vector<std::int32_t>> supply_rows_;   // one, or one by zone, or by part
  Indexed<DemandIndex, std::vector<std::int32_t>> part_columns_;  // by part, -1: fits nowhere there; or empty
  Indexed<ResidualClassIndex, std::int32_t> capacity_rows_;
  Indexed<ResidualClassIndex, std::vector<Column>> configurations_;
};

}  // namespace muster::formulation
