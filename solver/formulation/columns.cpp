// The columns of configurations, and the entries that they have in the rows of the formulation.
#include <string>

#include "solver/formulation/formulation.h"

namespace muster::formulation {

std::vector<lp::Entry> Formulation::entries_of(ResidualClassIndex residual, const Configuration& configuration) const {
  std::vector<lp::Entry> entries{{capacity_rows_[residual], 1}};
  for (const auto& [demand, count] : configuration.counts)
    entries.push_back({supply_row(demand, residual), -static_cast<double>(count)});
  for (const auto& [row, pods] : anti_affinity_entries(residual, configuration)) entries.push_back({row, pods});
  for (const DemandIndex stay : configuration.could_stay)
    if (const std::int32_t row = vain_rows_[in_.demand.classes[stay].stays]; row >= 0) entries.push_back({row, 1});
  for (const DemandIndex stay : configuration.could_stay_by_right) {
    const RunningCellIndex cell = in_.demand.classes[stay].stays;
    if (right_rows_[cell] >= 0) entries.push_back({right_rows_[cell], 1});
    const std::int32_t row = vain_gang_rows_[in_.demand.running[cell].gang_class];
    if (row >= 0) entries.push_back({row, 1});
  }
  return entries;
}

std::int32_t Formulation::add_configuration(ResidualClassIndex residual, const Configuration& configuration) {
  const auto nodes = static_cast<double>(in_.supply.residuals[residual].count());
  const std::int32_t column = model_.add_column(
      0, nodes, true, "l" + std::to_string(residual.value()) + "_" + std::to_string(configurations_[residual].size()));
  for (const lp::Entry& entry : entries_of(residual, configuration)) model_.add_entry(entry.row, column, entry.value);
  configurations_[residual].push_back({column, configuration.last_level, configuration.counts});
  return column;
}

std::vector<std::int32_t> Formulation::configuration_columns(ResidualClassIndex residual) const {
  std::vector<std::int32_t> columns;
  for (const ConfigurationColumn& configuration : configurations_[residual]) columns.push_back(configuration.column);
  return columns;
}

std::vector<ColumnOwner> Formulation::owners() const {
  std::vector<ColumnOwner> owners(static_cast<std::size_t>(model_.columns()));
  for (const OwnedColumns& owned : owned_)
    for (std::int32_t column = owned.first; column < owned.end; ++column)
      owners[static_cast<std::size_t>(column)] = owned.owner;
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    const auto own = [&](std::int32_t column, ZoneIndex zone = ZoneIndex::none(),
                         std::optional<std::size_t> channel = std::nullopt) {
      if (column >= 0) owners[static_cast<std::size_t>(column)] = {index, NodeIndex::none(), zone, channel};
    };
    own(gang_columns_[index].admitted);
    own(gang_columns_[index].split);
    for (const auto& [group, column] : gang_columns_[index].satisfied) own(column);
    for (const CellIndex cell : in_.demand.gang_classes[index].cells) {
      const std::vector<CellColumn>& columns = cell_columns_[cell];
      for (std::size_t zone = 0; zone < columns.size(); ++zone)
        own(columns[zone].column, columns.size() > 1 ? ZoneIndex(zone) : ZoneIndex::none());
    }
    for (const Exit& exit : exits_[index]) {
      own(exit.gone, ZoneIndex::none(), exit.channel);
      for (const std::int32_t column : exit.surplus) own(column, ZoneIndex::none(), exit.channel);
    }
  }
  return owners;
}

void Formulation::hold(const LevelId& id, const lp::LinearExpression& expression, std::int64_t value) {
  const auto limit = static_cast<double>(value);
  if (is_maximised(id.kind))
    model_.add_constraint(expression, limit, lp::kInfinity, "hold");
  else
    model_.add_constraint(expression, -lp::kInfinity, limit, "hold");
}

}  // namespace muster::formulation
