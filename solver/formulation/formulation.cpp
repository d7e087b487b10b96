#include "solver/formulation/formulation.h"

#include <cmath>
#include <functional>

#include "solver/formulation/plain_levels.h"
#include "solver/rows/eviction_limits.h"
#include "solver/rows/ordered_rows.h"

namespace muster::formulation {

// The order of the rows and columns is the order in which CBC sees them.
Formulation::Formulation(const FormulationInput& input) : in_(input) {
  if (in_.deadline) model_.begin_timed(*in_.deadline);
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    gangs_.add(index);
    if (in_.demand.gang_classes[index].running.empty()) topology_.add(index);
  }
  const bool may_leave = !in_.demand.running.empty();
  if (may_leave) add_exits();
  if (in_.pooled)
    asked_ = asked_pods(in_, columns_);
  else
    supply_.add();
  queues_.add();
  if (may_leave) add_eviction_rows();
  if (!in_.pooled && in_.anti_affinity.spans_nodes()) anti_affinity_.add();
  if (!in_.supply.parts.empty())
    OrderedRows({in_.problem, in_.demand, in_.supply, in_.base, supply_.part_columns(),
                 [&](RunningCellIndex cell) { return columns_.staying(cell); }},
                model_)
        .add();
}

void Formulation::add_exits() {
  evictions_.add_columns();
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.running.empty()) continue;
    evictions_.add_goes(index);
    if (gang_class.is_singles) continue;
    gangs_.add_tree(index);
    evictions_.add_leaving(index);
    topology_.add(index);
  }
}

// Every evicted pod has a placed claimant; reclaiming queues keep to the rules of reclaim; moves are counted.
void Formulation::add_eviction_rows() {
  evictions_.add_claims();
  reclaims_.add();
  if (in_.rules.price().is_set()) add_price_rows(in_, columns_, evictions_, model_);
  add_min_resources(in_, columns_, model_);
  add_budget_rows(in_, columns_, model_);
  if (in_.exact) vain_.add();
  add_move_row(in_, columns_, model_);
}

std::vector<lp::Entry> Formulation::entries_of(ResidualClassIndex residual, const Configuration& configuration) const {
  std::vector<lp::Entry> entries = supply_.entries_of(residual, configuration);
  for (const lp::Entry& entry : anti_affinity_.entries_of(residual, configuration)) entries.push_back(entry);
  for (const lp::Entry& entry : vain_.entries_of(configuration)) entries.push_back(entry);
  return entries;
}

std::int32_t Formulation::add_configuration(ResidualClassIndex residual, const Configuration& configuration) {
  const std::int32_t column = supply_.add_column(residual, configuration);
  for (const lp::Entry& entry : entries_of(residual, configuration)) model_.add_entry(entry.row, column, entry.value);
  return column;
}

std::vector<std::int32_t> Formulation::configuration_columns(ResidualClassIndex residual) const {
  std::vector<std::int32_t> columns;
  for (const SupplyRows::Column& configuration : supply_.columns_of(residual)) columns.push_back(configuration.column);
  return columns;
}

std::optional<lp::LinearExpression> Formulation::level(const LevelId& id) {
  switch (id.kind) {
    case LevelKind::kShare:
    case LevelKind::kQuota:
      return share_levels_.level(id);
    case LevelKind::kWork:
      return work_level(in_, columns_, id.priority);
    case LevelKind::kSeniority:
      return seniority_level(in_, columns_, model_);
    case LevelKind::kWholeNodes:
      return whole_nodes_level(in_, supply_);
    case LevelKind::kCpuOnGpuNodes:
      return cpu_on_gpu_nodes_level(in_, supply_);
    case LevelKind::kWholeDomains:
    case LevelKind::kGangNodes:
    case LevelKind::kGangDomains:
    case LevelKind::kGangModels:
      return std::nullopt;
    case LevelKind::kPreference:
      return preference_level(in_, supply_, topology_);
    case LevelKind::kFragmentation:
      return last_level(in_, supply_);
    case LevelKind::kPreempted:
    case LevelKind::kEvictedBeyond:
    case LevelKind::kEvicted:
      return eviction_levels_.evicted(id);
    case LevelKind::kMoved:
      return eviction_levels_.moved();
  }
  return std::nullopt;
}

void Formulation::hold(const LevelId& id, const lp::LinearExpression& expression, std::int64_t value) {
  const auto limit = static_cast<double>(value);
  if (is_maximised(id.kind))
    model_.add_constraint(expression, limit, lp::kInfinity, "hold");
  else
    model_.add_constraint(expression, -lp::kInfinity, limit, "hold");
}

FormulationSolution Formulation::read(const std::vector<double>& x) const {
  FormulationSolution solution =
      read_demand([&](std::int32_t column) { return std::lround(x[static_cast<std::size_t>(column)]); });
  solution.configurations = supply_.read(x);
  return solution;
}

FormulationSolution Formulation::round(const std::vector<double>& x) const {
  FormulationSolution solution = read_demand([&](std::int32_t column) {
    return static_cast<std::int64_t>(std::ceil(x[static_cast<std::size_t>(column)] - 1e-6));
  });
  solution.configurations = supply_.round(x);
  return solution;
}

FormulationSolution Formulation::read_demand(const std::function<std::int64_t(std::int32_t)>& count_of) const {
  FormulationSolution solution;
  solution.by_zone = Indexed<CellIndex, std::vector<std::int64_t>>(in_.demand.cells.size());
  solution.pods = Indexed<CellIndex, std::int64_t>(in_.demand.cells.size(), 0);
  solution.by_part = Indexed<DemandIndex, std::vector<std::int64_t>>(in_.demand.classes.size());
  for (DemandIndex d : in_.demand.classes.indices())
    for (const std::int32_t column : supply_.part_columns()[d])
      solution.by_part[d].push_back(column < 0 ? 0 : count_of(column));
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const std::int32_t column = columns_.of_gang(index).admitted;
    solution.gangs.push_back(column < 0 ? 1 : count_of(column));
  }
  for (CellIndex cell : in_.demand.cells.indices())
    for (const CellColumn& column : columns_.of_cell(cell)) {
      const std::int64_t count = column.pods * count_of(column.column);
      solution.pods[cell] += count;
      if (columns_.of_cell(cell).size() > 1) solution.by_zone[cell].push_back(count);
    }
  solution.evicted =
      Indexed<RunningCellIndex, std::vector<std::pair<std::size_t, std::int64_t>>>(in_.demand.running.size());
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    for (const ExitColumns& exit : columns_.exits(index))
      for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
        const RunningCellIndex cell = gang_class.running[v];
        const std::int64_t each = gang_class.is_singles ? 1 : in_.demand.running[cell].count();
        std::int64_t pods = exit.gone < 0 ? 0 : each * count_of(exit.gone);
        if (!exit.surplus.empty()) pods += count_of(exit.surplus[v]);
        if (pods > 0) solution.evicted[cell].emplace_back(exit.channel, pods);
      }
  }
  return solution;
}

}  // namespace muster::formulation
