#include "solver/choice/anchored_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace muster::choice {
namespace {

// The part of a cell of `all` pods that all leave together; none if they may leave one by one.
std::optional<lp::LinearExpression> part_of(const lp::LinearExpression& staying, std::int64_t pods, std::int64_t all) {
  lp::LinearExpression part;
  if (staying.constant % all != 0) return std::nullopt;
  part.constant = staying.constant / all * pods;
  for (const auto& [column, coefficient] : staying.terms) {
    if (coefficient % all != 0) return std::nullopt;
    part.add(column, coefficient / all * pods);
  }
  return part;
}

}  // namespace

bool AnchoredRows::is_anchored(const formulation::Demand& demand, formulation::DemandIndex d) {
  const formulation::RunningCellIndex cell = demand.classes[d].stays;
  return !cell.is_none() && demand.running[cell].move.is_none();
}

AnchoredRows::AnchoredRows(const Problem& problem, const formulation::Demand& demand, const ClusterState& base,
                           formulation::Formulation& formulation)
    : problem_(problem),
      demand_(demand),
      base_(base),
      formulation_(formulation),
      pods_on_(problem.nodes.size()),
      staying_(demand.running.size()) {
  for (const formulation::AskedPods& asked : formulation.asked())
    if (is_anchored(demand, asked.demand)) staying_[demand.classes[asked.demand].stays] = asked.pods;
  for (const formulation::RunningCellIndex cell : demand.running.indices())
    if (demand.running[cell].move.is_none())
      for (const PodIndex pod : demand.running[cell].pods) pods_on_[problem.pods[pod].node].push_back(pod);
  lp::ModelBuilder& model = formulation.model();
  for (const formulation::RunningCellIndex cell : demand.running.indices()) {
    if (!demand.running[cell].move.is_none()) continue;
    std::map<NodeIndex, std::int64_t> by_node;
    for (const PodIndex pod : demand.running[cell].pods) ++by_node[problem.pods[pod].node];
    lp::LinearExpression rest = staying_[cell];
    for (const auto& [node, pods] : by_node) {
      auto part = part_of(staying_[cell], pods, demand.running[cell].count());
      if (by_node.size() == 1) part = staying_[cell];
      if (!part) {
        part.emplace().add(model.add_column(0, static_cast<double>(pods), true, "t" + std::to_string(model.columns())),
                           1);
        rest.add(*part, -1);
      }
      staying_on_[{cell, node}] = *std::move(part);
    }
    if (rest.terms.size() > staying_[cell].terms.size()) model.add_constraint(rest, 0, 0, "stay");
  }
}

void AnchoredRows::add(NodeIndex node, std::int64_t idle, std::map<std::int32_t, lp::LinearExpression>& whole,
                       lp::LinearExpression& shared) {
  lp::ModelBuilder& model = formulation_.model();
  lp::LinearExpression used;
  std::map<formulation::RunningCellIndex, std::int64_t> cells;
  std::map<std::int32_t, std::map<formulation::RunningCellIndex, std::int64_t>> sharers;  // by device
  for (const PodIndex pod : pods_on_[node]) {
    const formulation::RunningCellIndex cell = demand_.running_cell_of[pod];
    const PodClass& pod_class = problem_.class_of(pod);
    if (pod_class.gpu.kind == GpuRequestKind::kWhole) ++cells[cell];
    if (pod_class.gpu.kind == GpuRequestKind::kFraction || pod_class.gpu.kind == GpuRequestKind::kMemory)
      for (const std::int32_t device : problem_.devices_of(pod)) {
        // A device that pods which stay for good share, too, is not among the idle ones.
        const bool is_idle =
            base_.free_devices(node)[static_cast<std::size_t>(device)] == problem_.device_capacity(node);
        if (is_idle) ++sharers[device][cell];
      }
  }
  for (const auto& [cell, pods] : cells)
    used.add(staying_on_.at({cell, node}),
             problem_.pod_classes[demand_.classes[demand_.running[cell].stay].pod_class].gpu.devices);
  for (auto& [devices, pods] : whole) {
    const std::int64_t most = idle / devices;
    if (most == 0) continue;
    const std::int32_t column =
        model.add_column(0, static_cast<double>(most), true, "y" + std::to_string(model.columns()));
    used.add(column, devices);
    pods.add(column, 1);
  }
  const std::int32_t opened =
      model.add_column(0, static_cast<double>(idle), true, "h" + std::to_string(model.columns()));
  used.add(opened, 1);
  shared.add(opened, 1);
  model.add_constraint(used, -lp::kInfinity, static_cast<double>(idle), "node" + std::to_string(node.value()));
  lp::LinearExpression in_use;
  in_use.add(opened, 1);
  for (const auto& [device, by_cell] : sharers) {
    const std::int32_t is_shared = model.add_column(0, 1, true, "d" + std::to_string(model.columns()));
    in_use.add(is_shared, -1);
    for (const auto& [cell, pods] : by_cell) {
      const std::int64_t here = pods_of(cell, node);
      lp::LinearExpression stays = staying_on_.at({cell, node});  // all of them leave this device, or it is shared
      stays.constant -= here - pods;
      stays.add(is_shared, -pods);
      model.add_constraint(stays, -lp::kInfinity, 0, "shared");
    }
  }
  if (!sharers.empty()) model.add_constraint(in_use, 0, lp::kInfinity, "in_use");
}

std::int64_t AnchoredRows::pods_of(formulation::RunningCellIndex cell, NodeIndex node) const {
  return std::ranges::count_if(pods_on_[node], [&](PodIndex pod) { return demand_.running_cell_of[pod] == cell; });
}

}  // namespace muster::choice
