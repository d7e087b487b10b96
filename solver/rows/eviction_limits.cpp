#include "solver/rows/eviction_limits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "model/problem/exceeded.h"
#include "solver/rows/price_rows.h"

namespace muster::formulation {
namespace {

// Of a resource, or of GPUs in millionths of a device.
lp::LinearExpression free_for(const FormulationInput& in, const GangColumns& columns, GangIndex gang,
                              std::optional<std::size_t> resource) {
  const std::vector<bool> usable = usable_classes(in.problem, gang);
  const auto is_usable = [&](NodeIndex node) { return usable[in.problem.nodes[node].node_class.value()]; };
  const auto micro_gpu = [&](DeviceUnits units, NodeIndex node) {
    return std::max<DeviceUnits>(0, units) / (in.problem.device_capacity(node) / 1'000'000);
  };
  const auto taken_by = [&](const PodClass& pod_class, NodeIndex node) -> Amount {
    if (resource) return pod_class.request[*resource];
    return pod_class.gpu.devices * micro_gpu(share_units(pod_class, in.problem.class_of(node)), node);
  };
  lp::LinearExpression free;
  for (NodeIndex node : in.problem.nodes.indices()) {
    if (!is_usable(node)) continue;
    if (resource) free.constant += std::max<Amount>(0, in.base.free(node)[*resource]);
    if (!resource)
      for (DeviceUnits units : in.base.free_devices(node)) free.constant += micro_gpu(units, node);
  }
  for (RunningCellIndex index : in.demand.running.indices()) {
    const RunningCell& cell = in.demand.running[index];
    const PodClass& pod_class = in.problem.pod_classes[in.demand.classes[cell.stay].pod_class];
    // On a node with a negative free amount, staying pods count as taking nothing, which is the weaker condition; so do
    // those that are equal to one there.
    const bool some_exceed = std::ranges::any_of(
        cell.pods, [&](PodIndex pod) { return is_exceeded(in.problem.class_of(in.problem.pods[pod].node)); });
    if (is_usable(cell.node) && !some_exceed) free.add(columns.staying(index), -taken_by(pod_class, cell.node));
    if (cell.move.is_none()) continue;
    const std::vector<CellColumn>& moved = columns.of_cell(cell.move);
    for (std::size_t part = 0; part < moved.size(); ++part)
      if (const NodeIndex node = in.zones.nodes[part]; moved.size() == 1 || is_usable(node))
        free.add(moved[part].column, -taken_by(pod_class, moved.size() == 1 ? cell.node : node));
  }
  return free;
}

}  // namespace

void add_min_resources(const FormulationInput& in, const GangColumns& columns, lp::ModelBuilder& model) {
  for (GangClassIndex index : in.demand.gang_classes.indices()) {
    if (!in.demand.gang_classes[index].lacks_resources) continue;
    const GangIndex gang_index = in.demand.gang_classes[index].gangs.front();
    const Gang& gang = in.problem.gangs[gang_index];
    const std::int32_t admitted = columns.of_gang(index).admitted;
    for (std::size_t r = 0; r < gang.min_resources.amounts.size(); ++r)
      if (gang.min_resources.amounts[r] > 0)
        model.add_implied(admitted, free_for(in, columns, gang_index, r),
                          static_cast<double>(gang.min_resources.amounts[r]), lp::kInfinity);
    if (gang.min_resources.gpu > 0)
      model.add_implied(admitted, free_for(in, columns, gang_index, std::nullopt),
                        static_cast<double>(gang.min_resources.gpu), lp::kInfinity);
  }
}

void add_budget_rows(const FormulationInput& in, const GangColumns& columns, lp::ModelBuilder& model) {
  const DisruptionBudgets& budgets = in.problem.disruption_budgets;
  if (budgets.empty()) return;
  std::map<DisruptionBudgetIndex, lp::LinearExpression> staying_of;
  for (RunningCellIndex cell : in.demand.running.indices())
    for (DisruptionBudgetIndex budget : budgets.in_set(in.demand.running[cell].budgets)) {
      lp::LinearExpression& stay = staying_of[budget];
      stay.add(columns.staying(cell));
      stay.constant -= in.demand.running[cell].count();
    }
  for (const auto& [budget, stay] : staying_of)
    model.add_constraint(stay.merged(), -static_cast<double>(budgets.all()[budget].allowed), lp::kInfinity,
                         "budget" + std::to_string(budget.value()));
}

void add_price_rows(const FormulationInput& in, const GangColumns& columns, const EvictionRows& evictions,
                    lp::ModelBuilder& model) {
  const PriceRows rows(in.problem, in.demand, in.rules.price());
  std::vector<PriceRows::Losses> losses(evictions.channels().size());
  for (const GangClassIndex index : in.demand.gang_classes.indices()) {
    for (const ExitColumns& exit : columns.exits(index)) {
      for (std::size_t v = 0; v < in.demand.gang_classes[index].running.size(); ++v)
        rows.add_loss(in.demand.gang_classes[index].running[v], columns.evicted_of(index, exit, v),
                      losses[exit.channel]);
    }
  }
  for (std::size_t channel = 0; channel < evictions.channels().size(); ++channel) {
    if (evictions.channels()[channel].reason == EvictionReason::kStale || losses[channel].lost.terms.empty()) continue;
    for (const GangClassIndex index : evictions.channels()[channel].claimants)
      rows.add_claimants(index, columns.of_gang(index).admitted, losses[channel]);
    PriceRows::add_row(losses[channel], "price" + std::to_string(channel), model);
  }
}

void add_move_row(const FormulationInput& in, const GangColumns& columns, lp::ModelBuilder& model) {
  lp::LinearExpression moves;
  for (const RunningCell& cell : in.demand.running)
    if (!cell.move.is_none()) moves.add(columns.placed(cell.move));
  const auto& most = in.problem.snapshot->policy.max_moves;
  if (most && !moves.terms.empty()) model.add_constraint(moves, 0, static_cast<double>(*most), "moves");
}

}  // namespace muster::formulation
