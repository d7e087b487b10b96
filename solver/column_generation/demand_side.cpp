#include "solver/column_generation/demand_side.h"

namespace muster::column_generation {

DemandSide::DemandSide(const RestrictedMaster& restricted, const PricingTask& task)
    : whole(restricted.formulation->model().build(task.expression, task.sign)) {
  is_configuration.assign(static_cast<std::size_t>(whole.columns()), false);
  std::vector<bool> is_supply(static_cast<std::size_t>(whole.rows()), false);
  for (formulation::ResidualClassIndex residual : restricted.supply.residuals.indices()) {
    is_supply[static_cast<std::size_t>(restricted.formulation->capacity_row(residual))] = true;
    for (const std::int32_t column : restricted.formulation->configuration_columns(residual))
      is_configuration[static_cast<std::size_t>(column)] = true;
  }
  rows_.assign(is_supply.size(), -1);
  for (std::size_t row = 0; row < is_supply.size(); ++row)
    if (!is_supply[row]) rows_[row] = milp.add_row(whole.row_lower[row], whole.row_upper[row]);
  for (std::size_t j = 0; j < is_configuration.size(); ++j) {
    if (is_configuration[j]) continue;
    std::vector<lp::Entry> entries;
    for (auto e = static_cast<std::size_t>(whole.column_begin[j]);
         e < static_cast<std::size_t>(whole.column_begin[j + 1]); ++e)
      entries.push_back({row_of(whole.entry_row[e]), whole.entry_value[e]});
    milp.add_column({whole.objective[j], whole.lower[j], whole.upper[j], whole.is_integer[j] != 0}, entries);
    columns.push_back(j);
  }
}

std::vector<double> DemandSide::whole_prices(const std::vector<double>& price) const {
  std::vector<double> all(rows_.size(), 0.0);
  for (std::size_t row = 0; row < rows_.size(); ++row)
    if (rows_[row] >= 0) all[row] = price[static_cast<std::size_t>(rows_[row])];
  return all;
}

}  // namespace muster::column_generation
