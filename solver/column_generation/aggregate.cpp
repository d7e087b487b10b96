#include "solver/column_generation/aggregate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/tuning.h"
#include "solver/column_generation/demand_side.h"
#include "solver/column_generation/lp_rounds.h"

namespace muster::column_generation {
namespace {

// The total capacity of the residual classes of one class.
struct AggregateSupply {
  formulation::ResidualClassIndex residual;        // one of them: zone, part and device memory are the same for all
  std::vector<double> free;                        // by ResourceIndex
  double idle = 0;                                 // devices
  double partial = 0;                              // units of devices that are used in part
  Indexed<formulation::DemandIndex, double> most;  // pods, by what each residual class could take of them alone
};

DeviceUnits device_capacity(const NodeClass& node_class) {
  return (node_class.device_memory_mib == 0 ? 1 : node_class.device_memory_mib) * 1'000'000;
}

std::vector<AggregateSupply> aggregates_of(const Problem& problem, const formulation::Demand& demand,
                                           const formulation::Supply& supply) {
  std::map<std::tuple<formulation::ZoneIndex, formulation::PartIndex, std::int64_t, std::int64_t>, AggregateSupply>
      aggregates;
  for (const formulation::ResidualClassIndex index : supply.residuals.indices()) {
    const formulation::ResidualClass& residual = supply.residuals[index];
    const NodeClass& node_class = problem.node_classes[residual.node_class];
    const DeviceUnits capacity = device_capacity(node_class);
    const auto idle = std::ranges::count(residual.free_devices, capacity);
    AggregateSupply& aggregate = aggregates[{residual.zone, residual.part, node_class.device_memory_mib, idle}];
    aggregate.residual = index;
    aggregate.free.resize(residual.free.size(), 0);
    const auto nodes = static_cast<double>(residual.count());
    for (std::size_t r = 0; r < residual.free.size(); ++r)
      aggregate.free[r] += nodes * std::max(0.0, static_cast<double>(residual.free[r]));
    aggregate.idle += nodes * static_cast<double>(idle);
    for (const DeviceUnits free : residual.free_devices)
      if (free < capacity) aggregate.partial += nodes * static_cast<double>(free);
    aggregate.most.resize(demand.classes.size());
    for (std::size_t at = 0; at < residual.demands.size(); ++at)
      aggregate.most[residual.demands[at]] += nodes * static_cast<double>(residual.most[at]);
  }
  std::vector<AggregateSupply> result;
  for (auto& [key, aggregate] : aggregates) result.push_back(std::move(aggregate));
  return result;
}

// Rows of a part of one aggregate, and its columns. Amounts are in thousandths of the aggregate's total, devices in
// devices.
using PodColumns = std::vector<std::pair<std::size_t, formulation::DemandIndex>>;
void add_aggregate(const RestrictedMaster& restricted, const AggregateSupply& aggregate, double part, DemandSide& side,
                   PodColumns& columns) {
  const Problem& problem = restricted.configuration_input.problem;
  const NodeClass& node_class = problem.node_classes[restricted.supply.residuals[aggregate.residual].node_class];
  lp::Milp& milp = side.milp;
  std::vector<std::pair<std::size_t, std::int32_t>> resource_rows;
  for (std::size_t r = 0; r < aggregate.free.size(); ++r)
    if (aggregate.free[r] > 0) resource_rows.emplace_back(r, milp.add_row(-lp::kInfinity, 1000 * part));
  const auto capacity = static_cast<double>(device_capacity(node_class));
  const std::int32_t whole_row = milp.add_row(-lp::kInfinity, aggregate.idle * part);
  const std::int32_t shared_row = milp.add_row(-lp::kInfinity, aggregate.partial / capacity * part);
  milp.add_column({0, 0, aggregate.idle, false}, {{whole_row, 1}, {shared_row, -1}});  // devices that are shared
  for (const formulation::DemandIndex d : aggregate.most.indices()) {
    const double most = aggregate.most[d];
    if (most == 0) continue;
    const PodClass& pod_class = problem.pod_classes[restricted.demand.classes[d].pod_class];
    std::vector<lp::Entry> entries{{side.row_of(restricted.formulation->supply_row(d, aggregate.residual)), -1}};
    for (const auto& [r, row] : resource_rows)
      if (pod_class.request[r] > 0)
        entries.push_back({row, 1000 * static_cast<double>(pod_class.request[r]) / aggregate.free[r]});
    if (pod_class.gpu.kind == GpuRequestKind::kWhole) {
      entries.push_back({whole_row, static_cast<double>(pod_class.gpu.devices)});
    } else if (pod_class.gpu.devices > 0) {
      const auto units = static_cast<double>(share_units(pod_class, node_class));
      entries.push_back({shared_row, pod_class.gpu.devices * units / capacity});
    }
    columns.emplace_back(milp.add_column({0, 0, most, false}, entries), d);
  }
}

cbc::MilpAnswer solve_aggregate(const RestrictedMaster& restricted, const PricingTask& task,
                                const std::vector<AggregateSupply>& aggregates, double part, DemandSide side,
                                cbc::Backend& backend, PodColumns& columns) {
  for (const AggregateSupply& aggregate : aggregates) add_aggregate(restricted, aggregate, part, side, columns);
  return backend.open_lp(side.milp, relaxation_request(task.deadline));
}

// Whether the solution asks anything for any pod.
bool has_prices(const RestrictedMaster& restricted, const std::vector<double>& whole_prices) {
  for (const formulation::ResidualClassIndex residual : restricted.supply.residuals.indices())
    for (const formulation::DemandIndex d : restricted.supply.residuals[residual].demands)
      if (std::abs(whole_prices[static_cast<std::size_t>(restricted.formulation->supply_row(d, residual))]) > 1e-9)
        return true;
  return false;
}

}  // namespace

AggregatePrices aggregate_prices(const RestrictedMaster& restricted, const PricingTask& task, cbc::Backend& backend) {
  const DemandSide side(restricted, task);
  const std::vector<AggregateSupply> aggregates =
      aggregates_of(restricted.configuration_input.problem, restricted.demand, restricted.supply);
  AggregatePrices result;
  for (const double part : {1.0, kTuning.generation.smaller_part}) {
    PodColumns columns;
    const cbc::MilpAnswer answer = solve_aggregate(restricted, task, aggregates, part, side, backend, columns);
    if (answer.status != cbc::SolveStatus::kOptimal) return result;
    result.price = side.whole_prices(answer.row_price);
    result.asked.assign(restricted.demand.classes.size(), 0.0);
    for (const auto& [column, demand] : columns) result.asked[demand.value()] += answer.x[column];
    if (has_prices(restricted, result.price)) break;
  }
  return result;
}

std::vector<double> prices_of_pods(const RestrictedMaster& restricted, const PricingTask& task,
                                   const std::vector<double>& pods, cbc::Backend& backend) {
  DemandSide side(restricted, task);
  std::set<std::int32_t> rows;
  for (const formulation::ResidualClassIndex residual : restricted.supply.residuals.indices())
    for (const formulation::DemandIndex d : restricted.supply.residuals[residual].demands) {
      const std::int32_t row = restricted.formulation->supply_row(d, residual);
      if (!rows.insert(row).second) continue;
      side.milp.add_column({-pods[d.value()], 0, lp::kInfinity, false}, {{side.row_of(row), -1}});
    }
  const cbc::MilpAnswer answer = backend.open_lp(side.milp, relaxation_request(task.deadline));
  if (answer.status != cbc::SolveStatus::kOptimal) return {};
  return side.whole_prices(answer.row_price);
}

}  // namespace muster::column_generation
