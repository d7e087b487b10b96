#include "solver/column_generation/grids.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/require.h"

namespace muster::column_generation {

using formulation::DemandIndex, formulation::ResidualClass, formulation::ResidualClassIndex;

std::vector<MultiplierGrid> make_grids(const RestrictedMaster& restricted) {
  MUSTER_REQUIRE(restricted.formulation && restricted.demand.running.empty());
  const Problem& problem = restricted.configuration_input.problem;
  std::map<std::vector<bool>, std::size_t> patterns;  // of classes that are allowed
  std::map<NodeClassIndex, std::size_t> pattern_of;
  using Kind = std::tuple<formulation::ZoneIndex, formulation::PartIndex, std::int64_t, std::size_t>;
  std::map<Kind, std::vector<ResidualClassIndex>> kinds;
  for (const ResidualClassIndex index : restricted.supply.residuals.indices()) {
    const ResidualClass& residual = restricted.supply.residuals[index];
    if (residual.demands.empty()) continue;
    const auto [found, is_new] = pattern_of.try_emplace(residual.node_class);
    if (is_new) {
      std::vector<bool> allowed;
      for (const formulation::DemandClass& demand : restricted.demand.classes)
        allowed.push_back(problem.pod_classes[demand.pod_class].allowed[residual.node_class.value()]);
      found->second = patterns.try_emplace(std::move(allowed), patterns.size()).first->second;
    }
    const std::int64_t memory = problem.node_classes[residual.node_class].device_memory_mib;
    kinds[{residual.zone, residual.part, memory, found->second}].push_back(index);
  }
  std::vector<MultiplierGrid> grids;
  for (auto& [kind, residuals] : kinds)
    grids.emplace_back(restricted.configuration_input, restricted.supply, std::move(residuals));
  return grids;
}

std::int32_t supply_row(const RestrictedMaster& restricted, const MultiplierGrid& grid, DemandIndex demand) {
  MUSTER_REQUIRE_SLOW(std::ranges::binary_search(grid.demands(), demand));
  return restricted.formulation->supply_row(demand, grid.residuals().front());
}

std::vector<double> pod_prices(const RestrictedMaster& restricted, const MultiplierGrid& grid,
                               const std::vector<double>& row_price) {
  std::vector<double> price(restricted.demand.classes.size(), 0.0);
  for (const DemandIndex d : grid.demands())
    price[d.value()] = std::max(0.0, row_price[static_cast<std::size_t>(supply_row(restricted, grid, d))]);
  return price;
}

std::vector<double> asked_pods(const RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids,
                               const DemandSide& side, const std::vector<double>& x) {
  std::vector<double> of_row(static_cast<std::size_t>(side.milp.rows()), 0.0);
  for (std::size_t j = 0; j < side.columns.size(); ++j)
    for (auto e = static_cast<std::size_t>(side.milp.column_begin[j]);
         e < static_cast<std::size_t>(side.milp.column_begin[j + 1]); ++e)
      of_row[static_cast<std::size_t>(side.milp.entry_row[e])] += side.milp.entry_value[e] * x[j];
  std::vector<double> asked(restricted.demand.classes.size(), 0.0);
  std::set<std::int32_t> counted;
  for (const MultiplierGrid& grid : grids)
    for (const DemandIndex d : grid.demands())
      if (const std::int32_t row = side.row_of(supply_row(restricted, grid, d)); counted.insert(row).second)
        asked[d.value()] += of_row[static_cast<std::size_t>(row)];
  return asked;
}

}  // namespace muster::column_generation
