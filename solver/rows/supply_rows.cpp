#include "solver/rows/supply_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "solver/demand/ordered_rules.h"

namespace muster::formulation {

SupplyRows::SupplyRows(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model)
    : in_(input),
      columns_(columns),
      model_(model),
      supply_rows_(input.demand.classes.size()),
      part_columns_(input.demand.classes.size()),
      capacity_rows_(input.supply.residuals.size(), -1),
      configurations_(input.supply.residuals.size()) {}

void SupplyRows::add() {
  add_parts();
  add_supply_rows();
  add_capacity_rows();
}

// For each class that affinity or spread involves, the number of its pods in each part with a residual class that takes
// them.
void SupplyRows::add_parts() {
  if (in_.supply.parts.empty()) return;
  const OrderedRules rules(in_.problem, in_.demand);
  for (DemandIndex d : in_.demand.classes.indices()) {
    const DemandClass& demand = in_.demand.classes[d];
    if (!demand.stays.is_none() || !rules.concern(in_.problem.pod_classes[demand.pod_class])) continue;
    part_columns_[d].assign(in_.supply.parts.size(), -1);
  }
  std::map<std::pair<DemandIndex, PartIndex>, std::int64_t> most;
  for (const ResidualClass& residual : in_.supply.residuals)
    for (std::size_t at = 0; at < residual.demands.size(); ++at)
      if (!part_columns_[residual.demands[at]].empty())
        most[{residual.demands[at], residual.part}] += residual.count() * residual.most[at];
  for (const auto& [at, pods] : most) {
    const auto upper = static_cast<double>(std::min(pods, in_.demand.classes[at.first].count));
    part_columns_[at.first][at.second.value()] =
        model_.add_column(0, upper, true, lp::numbered("p", at.first.value(), at.second.value()));
  }
}

// One row for a class over the whole cluster; one for each zone, and a flow into them, if some cell of it is located.
void SupplyRows::add_supply_rows() {
  Indexed<DemandIndex, std::vector<CellIndex>> free_cells(in_.demand.classes.size()),
      located(in_.demand.classes.size());
  for (CellIndex cell : in_.demand.cells.indices()) {
    const bool is_located = columns_.of_cell(cell).size() > 1 && in_.supply.zone_count > 1;
    (is_located ? located : free_cells)[in_.demand.cells[cell].demand].push_back(cell);
  }
  for (DemandIndex d : in_.demand.classes.indices()) {
    if (const RunningCellIndex stays = in_.demand.classes[d].stays; !stays.is_none()) {
      supply_rows_[d].push_back(add_supply_row(columns_.staying(stays), lp::numbered("stay", d.value())));
      continue;
    }
    if (!part_columns_[d].empty()) {
      add_part_rows(d, located[d], free_cells[d]);
      continue;
    }
    const std::size_t parts = located[d].empty() ? 1 : in_.supply.zone_count;
    lp::LinearExpression flow;
    for (CellIndex cell : free_cells[d]) flow.add(columns_.placed(cell));
    for (std::size_t part = 0; part < parts; ++part) {
      lp::LinearExpression asked;
      for (CellIndex cell : located[d]) asked.add(columns_.of_cell(cell)[part].column, 1);
      if (parts == 1) {
        asked.add(flow);
      } else if (!flow.terms.empty()) {
        const auto most = static_cast<double>(in_.demand.classes[d].count);
        const std::int32_t column = model_.add_column(0, most, true, lp::numbered("f", d.value(), part));
        asked.add(column, 1);
        flow.add(column, -1);
      }
      supply_rows_[d].push_back(add_supply_row(asked, lp::numbered("supply", d.value(), part)));
    }
    if (parts > 1 && !flow.terms.empty()) model_.add_constraint(flow, 0, 0, lp::numbered("flow", d.value()));
  }
}

// A row for each part, and one for each zone if some cell of the class is located, else one for all.
void SupplyRows::add_part_rows(DemandIndex d, const std::vector<CellIndex>& located,
                               const std::vector<CellIndex>& free) {
  const std::size_t zones = located.empty() ? 1 : in_.supply.zone_count;
  std::vector<lp::LinearExpression> asked(zones);  // minus the pods of the parts
  lp::LinearExpression flow;
  for (CellIndex cell : free) flow.add(columns_.placed(cell));
  for (std::size_t zone = 0; zone < zones; ++zone) {
    for (CellIndex cell : located) asked[zone].add(columns_.of_cell(cell)[zone].column, 1);
    if (zones == 1) {
      asked[zone].add(flow);
    } else if (!flow.terms.empty()) {
      const auto most = static_cast<double>(in_.demand.classes[d].count);
      const std::int32_t column = model_.add_column(0, most, true, lp::numbered("f", d.value(), zone));
      asked[zone].add(column, 1);
      flow.add(column, -1);
    }
  }
  if (zones > 1 && !flow.terms.empty()) model_.add_constraint(flow, 0, 0, lp::numbered("flow", d.value()));
  supply_rows_[d].assign(in_.supply.parts.size(), -1);
  for (const PartIndex part : in_.supply.parts.indices()) {
    const std::int32_t column = part_columns_[d][part.value()];
    if (column < 0) continue;
    lp::LinearExpression there;
    there.add(column, 1);
    supply_rows_[d][part.value()] = add_supply_row(there, lp::numbered("supply", d.value(), part.value()));
    asked[zones == 1 ? 0 : in_.supply.parts[part].zone.value()].add(column, -1);
  }
  for (std::size_t zone = 0; zone < zones; ++zone)
    model_.add_constraint(asked[zone], 0, 0, lp::numbered("parts", d.value(), zone));
}

// Not add_constraint: the coefficients of the configurations are added later, so the common divisor is not known yet.
std::int32_t SupplyRows::add_supply_row(const lp::LinearExpression& asked, std::string label) {
  const auto there = static_cast<double>(asked.constant);
  const std::int32_t row = model_.add_row(in_.exact ? -there : -lp::kInfinity, -there, std::move(label));
  for (const auto& [column, coefficient] : asked.terms) model_.add_entry(row, column, static_cast<double>(coefficient));
  return row;
}

std::int32_t SupplyRows::supply_row(DemandIndex demand, ResidualClassIndex index) const {
  const std::vector<std::int32_t>& rows = supply_rows_[demand];
  const ResidualClass& residual = in_.supply.residuals[index];
  if (!part_columns_[demand].empty()) return rows[residual.part.value()];
  return rows.size() == 1 ? rows[0] : rows[residual.zone.value()];
}

void SupplyRows::add_capacity_rows() {
  for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
    const auto nodes = static_cast<double>(in_.supply.residuals[residual].count());
    capacity_rows_[residual] = model_.add_row(in_.exact ? nodes : 0, nodes, lp::numbered("nodes", residual.value()));
  }
}

std::vector<lp::Entry> SupplyRows::entries_of(ResidualClassIndex residual, const Configuration& configuration) const {
  std::vector<lp::Entry> entries{{capacity_rows_[residual], 1}};
  for (const auto& [demand, count] : configuration.counts)
    entries.push_back({supply_row(demand, residual), -static_cast<double>(count)});
  return entries;
}

std::int32_t SupplyRows::add_column(ResidualClassIndex residual, const Configuration& configuration) {
  const auto nodes = static_cast<double>(in_.supply.residuals[residual].count());
  const std::int32_t column =
      model_.add_column(0, nodes, true, lp::numbered("l", residual.value(), configurations_[residual].size()));
  configurations_[residual].push_back({column, configuration.last_level, configuration.counts});
  return column;
}

SupplyRows::Chosen SupplyRows::read(const std::vector<double>& x) const {
  Chosen result;
  for (const ResidualClassIndex residual : in_.supply.residuals.indices()) {
    std::vector<std::pair<std::size_t, std::int64_t>>& chosen = result.emplace_back();
    for (std::size_t j = 0; j < configurations_[residual].size(); ++j) {
      const auto nodes = std::lround(x[static_cast<std::size_t>(configurations_[residual][j].column)]);
      if (nodes > 0) chosen.emplace_back(j, nodes);
    }
  }
  return result;
}

SupplyRows::Chosen SupplyRows::round(const std::vector<double>& x) const {
  Chosen result;
  for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
    std::vector<std::pair<double, std::size_t>> remainders;
    std::vector<std::pair<std::size_t, std::int64_t>>& chosen = result.emplace_back();
    std::int64_t left = in_.supply.residuals[residual].count();
    for (std::size_t j = 0; j < configurations_[residual].size(); ++j) {
      const auto column = static_cast<std::size_t>(configurations_[residual][j].column);
      if (column >= x.size()) break;  // priced after the solution was found
      const double nodes = x[column];
      const auto whole = std::min(left, static_cast<std::int64_t>(std::floor(nodes + 1e-6)));
      if (whole > 0) chosen.emplace_back(j, whole);
      left -= std::max<std::int64_t>(0, whole);
      if (nodes - static_cast<double>(whole) > 1e-6) remainders.emplace_back(static_cast<double>(whole) - nodes, j);
    }
    std::sort(remainders.begin(), remainders.end());
    for (std::size_t i = 0; i < remainders.size() && left > 0; ++i, --left)
      chosen.emplace_back(remainders[i].second, 1);
  }
  return result;
}

}  // namespace muster::formulation
