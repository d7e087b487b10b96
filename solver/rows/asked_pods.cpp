#include "solver/rows/asked_pods.h"

#include <algorithm>
#include <utility>

namespace muster::formulation {

std::vector<AskedPods> asked_pods(const FormulationInput& in, const GangColumns& columns) {
  std::vector<AskedPods> asked;
  for (const CellIndex cell : in.demand.cells.indices()) {
    const DemandIndex demand = in.demand.cells[cell].demand;
    if (columns.of_cell(cell).size() <= 1) {
      asked.push_back({demand, ZoneIndex::none(), columns.placed(cell)});
      continue;
    }
    for (std::size_t zone = 0; zone < columns.of_cell(cell).size(); ++zone) {
      lp::LinearExpression there;
      there.add(columns.of_cell(cell)[zone].column, columns.of_cell(cell)[zone].pods);
      asked.push_back({demand, ZoneIndex(zone), std::move(there)});
    }
  }
  for (const RunningCellIndex cell : in.demand.running.indices())
    asked.push_back({in.demand.running[cell].stay, zone_of(in, cell), columns.staying(cell)});
  return asked;
}

ZoneIndex zone_of(const FormulationInput& in, RunningCellIndex cell) {
  if (in.supply.zone_count == 1) return ZoneIndex::none();
  const std::vector<PodIndex>& pods = in.demand.running[cell].pods;
  const auto zone = [&](PodIndex pod) { return in.zones.of_node[in.problem.pods[pod].node]; };
  const bool is_one = std::ranges::all_of(pods, [&](PodIndex pod) { return zone(pod) == zone(pods.front()); });
  return is_one ? zone(pods.front()) : ZoneIndex::none();
}

}  // namespace muster::formulation
