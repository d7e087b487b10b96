#include "solver/rows/gang_columns.h"

#include <algorithm>

namespace muster::formulation {

GangColumns::GangColumns(const FormulationInput& input)
    : in_(input),
      gangs_(input.demand.gang_classes.size()),
      cells_(input.demand.cells.size()),
      exits_(input.demand.gang_classes.size()) {}

lp::LinearExpression GangColumns::placed(CellIndex cell) const {
  lp::LinearExpression sum;
  for (const CellColumn& column : cells_[cell]) sum.add(column.column, column.pods);
  return sum;
}

lp::LinearExpression GangColumns::placed_in(CellIndex cell, DomainIndex domain, TopologyLevelIndex level) const {
  lp::LinearExpression sum;
  for (std::size_t zone = 0; zone < cells_[cell].size(); ++zone)
    if (in_.zones.domains[zone][level.value()] == domain) sum.add(cells_[cell][zone].column, 1);
  return sum;
}

// Pods that waited and are placed: a pod that is only moved claims nothing.
lp::LinearExpression GangColumns::waiting_pods(const GangClass& gang_class) const {
  lp::LinearExpression pods;
  for (CellIndex cell : gang_class.cells)
    if (in_.demand.cells[cell].moves.is_none()) pods.add(placed(cell));
  return pods;
}

// The pods of one running cell of the class.
lp::LinearExpression GangColumns::evicted_of(GangClassIndex index, const ExitColumns& exit, std::size_t cell) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  lp::LinearExpression pods;
  if (exit.gone >= 0)
    pods.add(exit.gone, gang_class.is_singles ? 1 : in_.demand.running[gang_class.running[cell]].count());
  if (!exit.surplus.empty()) pods.add(exit.surplus[cell], 1);
  return pods;
}

lp::LinearExpression GangColumns::evicted_by(GangClassIndex index, const ExitColumns& exit) const {
  lp::LinearExpression pods;
  for (std::size_t v = 0; v < in_.demand.gang_classes[index].running.size(); ++v) pods.add(evicted_of(index, exit, v));
  return pods;
}

lp::LinearExpression GangColumns::kept(RunningCellIndex index) const {
  const RunningCell& cell = in_.demand.running[index];
  const GangClass& gang_class = in_.demand.gang_classes[cell.gang_class];
  lp::LinearExpression left{cell.count(), {}};
  const auto position = std::find(gang_class.running.begin(), gang_class.running.end(), index);
  for (const ExitColumns& exit : exits_[cell.gang_class])
    left.add(evicted_of(cell.gang_class, exit, static_cast<std::size_t>(position - gang_class.running.begin())), -1);
  return left;
}

lp::LinearExpression GangColumns::staying(RunningCellIndex index) const {
  lp::LinearExpression left = kept(index);
  if (const CellIndex move = in_.demand.running[index].move; !move.is_none()) left.add(placed(move), -1);
  return left;
}

lp::LinearExpression GangColumns::gone(GangClassIndex index) const {
  lp::LinearExpression gangs;
  for (const ExitColumns& exit : exits_[index])
    if (exit.gone >= 0) gangs.add(exit.gone, 1);
  if (const std::int32_t split = gangs_[index].split; split >= 0) gangs.add(split, 1);
  return gangs;
}

std::vector<ColumnOwner> GangColumns::owners(std::int32_t count) const {
  std::vector<ColumnOwner> owners(static_cast<std::size_t>(count));
  for (const OwnedColumns& owned : owned_)
    for (std::int32_t column = owned.first; column < owned.end; ++column)
      owners[static_cast<std::size_t>(column)] = owned.owner;
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    const auto own = [&](std::int32_t column, ZoneIndex zone = ZoneIndex::none(),
                         std::optional<std::size_t> channel = std::nullopt) {
      if (column >= 0) owners[static_cast<std::size_t>(column)] = {index, NodeIndex::none(), zone, channel};
    };
    own(gangs_[index].admitted);
    own(gangs_[index].split);
    for (const auto& [group, column] : gangs_[index].satisfied) own(column);
    for (const CellIndex cell : in_.demand.gang_classes[index].cells) {
      const std::vector<CellColumn>& columns = cells_[cell];
      for (std::size_t zone = 0; zone < columns.size(); ++zone)
        own(columns[zone].column, columns.size() > 1 ? ZoneIndex(zone) : ZoneIndex::none());
    }
    for (const ExitColumns& exit : exits_[index]) {
      own(exit.gone, ZoneIndex::none(), exit.channel);
      for (const std::int32_t column : exit.surplus) own(column, ZoneIndex::none(), exit.channel);
    }
  }
  return owners;
}

}  // namespace muster::formulation
