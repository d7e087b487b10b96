#include "solver/choice/anchored_rows.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "model/base/tuning.h"

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
      sharers_on_(problem.nodes.size()),
      leaves_together_(demand.running.size(), false),
      staying_(demand.running.size()) {
  for (const formulation::AskedPods& asked : formulation.asked())
    if (is_anchored(demand, asked.demand)) staying_[demand.classes[asked.demand].stays] = asked.pods;
  for (const formulation::RunningCellIndex cell : demand.running.indices())
    if (demand.running[cell].move.is_none())
      for (const PodIndex pod : demand.running[cell].pods) {
        const NodeIndex node = problem.pods[pod].node;
        pods_on_[node].push_back(pod);
        const GpuRequestKind kind = problem.class_of(pod).gpu.kind;
        if (kind != GpuRequestKind::kFraction && kind != GpuRequestKind::kMemory) continue;
        for (const std::int32_t device : problem.devices_of(pod)) ++sharers_on_[node][device][cell];
      }
  std::size_t devices = 0;
  for (const NodeIndex node : problem.nodes.indices()) devices += sharers_on_[node].size();
  if (devices > 0) most_sets_ = std::min(kTuning.slots.options, kTuning.listing.most_columns / devices);
  lp::ModelBuilder& model = formulation.model();
  for (const formulation::RunningCellIndex cell : demand.running.indices()) {
    if (!demand.running[cell].move.is_none()) continue;
    std::map<NodeIndex, std::int64_t> by_node;
    for (const PodIndex pod : demand.running[cell].pods) ++by_node[problem.pods[pod].node];
    const std::int64_t all = demand.running[cell].count();
    leaves_together_[cell] = part_of(staying_[cell], 1, all).has_value();
    if (staying_[cell].terms.size() > 1) {  // one column in the rows of nodes in place of several
      const std::int64_t step = leaves_together_[cell] ? all : 1;
      lp::LinearExpression column;
      const std::int32_t first = model.columns();
      column.add(model.add_column(0, static_cast<double>(all / step), true, "k" + std::to_string(first)), step);
      formulation.set_owner(first,
                            {demand.running[cell].gang_class, NodeIndex::none(), formulation::ZoneIndex::none()});
      staying_[cell].add(column, -1);
      model.add_constraint(staying_[cell], 0, 0, "stay");
      staying_[cell] = std::move(column);
    }
    lp::LinearExpression rest = staying_[cell];
    for (const auto& [node, pods] : by_node) {
      auto part = part_of(staying_[cell], pods, demand.running[cell].count());
      if (by_node.size() == 1) part = staying_[cell];
      if (!part) {
        const std::int32_t first = model.columns();
        part.emplace().add(model.add_column(0, static_cast<double>(pods), true, "t" + std::to_string(first)), 1);
        formulation.set_owner(first, {formulation::GangClassIndex::none(), node, formulation::ZoneIndex::none()});
        rest.add(*part, -1);
      }
      staying_on_[{cell, node}] = *std::move(part);
    }
    if (rest.terms.size() > staying_[cell].terms.size()) model.add_constraint(rest, 0, 0, "stay");
  }
}

void AnchoredRows::add(NodeIndex node, std::int64_t idle, Offer& offer) {
  lp::ModelBuilder& model = formulation_.model();
  const std::int32_t first = model.columns();
  lp::LinearExpression used;
  std::map<formulation::RunningCellIndex, std::int64_t> cells;
  for (const PodIndex pod : pods_on_[node])
    if (problem_.class_of(pod).gpu.kind == GpuRequestKind::kWhole) ++cells[demand_.running_cell_of[pod]];
  for (const auto& [cell, pods] : cells)
    used.add(staying_on_.at({cell, node}),
             problem_.pod_classes[demand_.classes[demand_.running[cell].stay].pod_class].gpu.devices);
  for (auto& [devices, pods] : offer.whole) {
    const std::int64_t most = idle / devices;
    if (most == 0) continue;
    const std::int32_t column =
        model.add_column(0, static_cast<double>(most), true, "y" + std::to_string(model.columns()));
    used.add(column, devices);
    pods.add(column, 1);
  }
  if (idle > 0) {
    const std::int32_t opened =
        model.add_column(0, static_cast<double>(idle), true, "h" + std::to_string(model.columns()));
    used.add(opened, 1);
    offer.opened.add(opened, 1);
  }
  for (const auto& [device, sharers] : sharers_on_[node]) used.add(add_device(node, device, offer));
  model.add_constraint(used, -lp::kInfinity, static_cast<double>(idle), "node" + std::to_string(node.value()));
  formulation_.set_owner(first, {formulation::GangClassIndex::none(), node, formulation::ZoneIndex::none()});
}

// Returns whether a device that is idle in the base remains in use.
lp::LinearExpression AnchoredRows::add_device(NodeIndex node, std::int32_t device, Offer& offer) {
  lp::ModelBuilder& model = formulation_.model();
  const Sharers& sharers = sharers_on_[node].at(device);
  DeviceSharers sets = sets_of(sharers, node);
  const DeviceUnits free = base_.free_devices(node)[static_cast<std::size_t>(device)];
  const bool is_idle = free == problem_.device_capacity(node);
  lp::LinearExpression one, in_use;
  for (Staying& set : sets.sets) {
    set.column = model.add_column(0, 1, true, "c" + std::to_string(model.columns()));
    one.add(set.column, 1);
    const bool is_cleared = &set == &sets.sets.front();
    if (is_idle && is_cleared) continue;
    if (is_idle) in_use.add(set.column, 1);
    const std::int64_t level = millionths_of(free, problem_.device_capacity(node)) - set.share;
    if (level > 0) offer.levels[level].add(set.column, 1);
  }
  model.add_constraint(one, 1, 1, "device");
  const auto add_cell = [&](formulation::RunningCellIndex cell, bool is_exact, const auto& pods_in) {
    const std::int64_t pods = sharers.at(cell);
    lp::LinearExpression stays;  // on this device at least, or exactly, less those in the set
    if (leaves_together_[cell]) {
      stays = *part_of(staying_[cell], pods, demand_.running[cell].count());
    } else {
      stays = staying_on_.at({cell, node});
      stays.constant -= pods_of(cell, node) - pods;
    }
    for (const Staying& set : sets.sets)
      if (const std::int64_t in = pods_in(set); in > 0) stays.add(set.column, -in);
    model.add_constraint(stays, is_exact && leaves_together_[cell] ? 0 : -lp::kInfinity, 0, "shared");
  };
  for (std::size_t i = 0; i < sets.exact.size(); ++i)
    add_cell(sets.exact[i], true, [i](const Staying& set) { return set.pods[i]; });
  for (const formulation::RunningCellIndex cell : sets.others)
    add_cell(cell, false, [&](const Staying& set) { return &set == &sets.sets.front() ? 0 : sharers.at(cell); });
  return in_use;
}

// The first set is empty.
AnchoredRows::DeviceSharers AnchoredRows::sets_of(const Sharers& sharers, NodeIndex node) const {
  DeviceSharers result;
  std::vector<formulation::RunningCellIndex> cells;
  for (const auto& [cell, pods] : sharers) cells.push_back(cell);
  std::ranges::stable_sort(cells, std::greater(),
                           [&](formulation::RunningCellIndex cell) { return sharers.at(cell) * share_of(cell, node); });
  const auto steps_of = [&](formulation::RunningCellIndex cell) {
    return leaves_together_[cell] ? std::int64_t{1} : sharers.at(cell);
  };
  std::size_t ways = 1;
  for (const formulation::RunningCellIndex cell : cells) {
    if (ways <= most_sets_) ways *= static_cast<std::size_t>(1 + steps_of(cell));
    (ways <= most_sets_ ? result.exact : result.others).push_back(cell);
  }
  result.sets.push_back({std::vector<std::int64_t>(result.exact.size(), 0)});
  if (!result.others.empty()) result.sets.push_back(result.sets.front());
  const std::size_t first = result.sets.size() - 1;
  for (std::size_t i = 0; i < result.exact.size(); ++i) {
    const formulation::RunningCellIndex cell = result.exact[i];
    const std::int64_t step = sharers.at(cell) / steps_of(cell);
    const std::size_t before = result.sets.size();
    for (std::int64_t pods = step; pods <= sharers.at(cell); pods += step)
      for (std::size_t s = first; s < before; ++s) {
        Staying set = result.sets[s];
        set.pods[i] = pods;
        set.share += pods * share_of(cell, node);
        result.sets.push_back(std::move(set));
      }
  }
  return result;
}

// The least that a pod of the cell takes of a device, in millionths of it.
std::int64_t AnchoredRows::share_of(formulation::RunningCellIndex cell, NodeIndex node) const {
  const PodClass& pod_class = problem_.pod_classes[demand_.classes[demand_.running[cell].stay].pod_class];
  const DeviceUnits millionth = problem_.device_capacity(node) / kMillionths;
  return share_units(pod_class, problem_.node_classes[problem_.nodes[node].node_class]) / millionth;
}

std::int64_t AnchoredRows::pods_of(formulation::RunningCellIndex cell, NodeIndex node) const {
  return std::ranges::count_if(pods_on_[node], [&](PodIndex pod) { return demand_.running_cell_of[pod] == cell; });
}

}  // namespace muster::choice
