// A plan in the columns of the formulation.
#include <algorithm>
#include <map>
#include <set>

#include "solver/formulation/formulation.h"

namespace muster::formulation {

PlanColumns Formulation::decisions_of(const Plan& plan) const {
  Indexed<PodIndex, NodeIndex> placed(in_.problem.pods.size(), NodeIndex::none());
  for (const Placement& placement : plan.placements) placed[placement.pod] = placement.node;
  Indexed<PodIndex, const Eviction*> evicted(in_.problem.pods.size(), nullptr);
  for (const Eviction& eviction : plan.evictions)
    if (placed[eviction.pod].is_none()) evicted[eviction.pod] = &eviction;
  std::map<std::int32_t, std::int64_t> values;
  PlanColumns result;
  const auto add_place = [&](CellIndex cell, NodeIndex node) {
    const ZoneIndex zone = cell_columns_[cell].size() > 1 ? in_.zones.of_node[node] : ZoneIndex::none();
    result.places.push_back({in_.demand.cells[cell].demand, zone, node});
  };
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    for (const CellIndex cell : gang_class.cells)
      for (const CellColumn& column : cell_columns_[cell]) values[column.column];
    for (const Exit& exit : exits_[index]) {
      if (exit.gone >= 0) values[exit.gone];
      for (const std::int32_t column : exit.surplus) values[column];
    }
    const auto column_in = [&](CellIndex cell, ZoneIndex zone) -> const CellColumn& {
      return cell_columns_[cell][cell_columns_[cell].size() > 1 ? zone.value() : 0];
    };
    // Pods that are placed: whole gangs have one column for all of their pods. Where no pod has a place, one that is
    // moved within its zone stays.
    for (const CellIndex cell : gang_class.cells) {
      if (const RunningCellIndex moves = in_.demand.cells[cell].moves; !moves.is_none()) {
        for (const PodIndex pod : in_.demand.running[moves].pods) {
          if (placed[pod].is_none()) continue;
          const ZoneIndex to = in_.zones.of_node[placed[pod]];
          if (in_.pooled && to == in_.zones.of_node[in_.problem.pods[pod].node]) {
            result.places.push_back({in_.demand.running[moves].stay, zone_of(moves), placed[pod]});
          } else {
            ++values[column_in(cell, to).column];
            add_place(cell, placed[pod]);
          }
        }
        continue;
      }
      const PodClassIndex pod_class = in_.demand.classes[in_.demand.cells[cell].demand].pod_class;
      std::map<ZoneIndex, std::int64_t> pods;
      const auto count = [&](PodIndex pod) {
        if (placed[pod].is_none() || in_.problem.pods[pod].status != PodStatus::kPending ||
            in_.problem.pods[pod].pod_class != pod_class)
          return;
        ++pods[in_.zones.of_node[placed[pod]]];
        add_place(cell, placed[pod]);
      };
      if (gang_class.gangs.size() == 1) {
        std::ranges::for_each(in_.demand.cells[cell].pods, count);
      } else {
        for (const GangIndex gang : gang_class.gangs) std::ranges::for_each(in_.problem.gangs[gang].pods, count);
      }
      std::map<std::int32_t, std::int64_t> by_column;
      for (const auto& [zone, count] : pods) by_column[column_in(cell, zone).column] += count;
      for (const auto& [column, count] : by_column) values[column] = count / column_in(cell, ZoneIndex(0)).pods;
    }
    if (gang_columns_[index].split >= 0) values[gang_columns_[index].split];
    if (!gang_class.running.empty())
      for (const GangIndex gang : gang_class.gangs) decide_exits(index, gang, evicted, values);
    // A gang that waits is admitted if any of its pods is placed.
    if (gang_class.running.empty() && gang_columns_[index].admitted >= 0 && gang_class.minimum > 0) {
      std::int64_t gangs = 0;
      for (const GangIndex gang : gang_class.gangs)
        gangs += std::ranges::any_of(in_.problem.gangs[gang].pods, [&](PodIndex pod) {
          return !placed[pod].is_none() && in_.problem.pods[pod].status == PodStatus::kPending;
        });
      values[gang_columns_[index].admitted] = gangs;
    }
  }
  for (const RunningCellIndex cell : in_.demand.running.indices())
    for (const PodIndex pod : in_.demand.running[cell].pods)
      if (placed[pod].is_none() && evicted[pod] == nullptr)
        result.places.push_back({in_.demand.running[cell].stay, zone_of(cell), in_.problem.pods[pod].node});
  result.decisions.assign(values.begin(), values.end());
  return result;
}

// The columns of one running gang's exits. A gang whose pods all leave by one channel, or whose split is of no use,
// leaves whole by that of the first.
void Formulation::decide_exits(GangClassIndex index, GangIndex gang, const Indexed<PodIndex, const Eviction*>& evicted,
                               std::map<std::int32_t, std::int64_t>& values) const {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  std::map<RunningCellIndex, std::map<std::size_t, std::int64_t>> leaving;
  std::set<std::size_t> channels;
  bool is_whole = true;
  std::optional<std::size_t> first;
  for (const PodIndex pod : in_.problem.gangs[gang].pods) {
    const RunningCellIndex cell = in_.demand.running_cell_of[pod];
    if (cell.is_none()) continue;
    const auto channel = evicted[pod] == nullptr ? std::nullopt : channel_of(index, *evicted[pod]);
    is_whole = is_whole && evicted[pod] != nullptr;
    if (!channel) continue;
    if (!first) first = channel;
    channels.insert(*channel);
    ++leaving[cell][*channel];
  }
  if (!first) return;
  const std::int32_t split = gang_columns_[index].split;
  const auto of_first = std::ranges::find(exits_[index], *first, &Exit::channel);
  if (is_whole && of_first->gone >= 0 && (channels.size() == 1 || split < 0)) {
    ++values[of_first->gone];
    return;
  }
  if (is_whole && split >= 0) values[split] = 1;
  for (const Exit& exit : exits_[index])
    for (std::size_t v = 0; v < exit.surplus.size(); ++v)
      values[exit.surplus[v]] += leaving[gang_class.running[v]][exit.channel];
}

// The channel by which the plan evicts pods of the class.
std::optional<std::size_t> Formulation::channel_of(GangClassIndex victims, const Eviction& eviction) const {
  for (const Exit& exit : exits_[victims]) {
    const EvictionChannel& channel = channels_[exit.channel];
    if (channel.reason != eviction.reason) continue;
    if (channel.reason == EvictionReason::kStale) return exit.channel;
    const bool claims = std::ranges::any_of(channel.claimants, [&](GangClassIndex claimant) {
      return std::ranges::count(in_.demand.gang_classes[claimant].gangs, eviction.for_gang) > 0;
    });
    if (claims) return exit.channel;
  }
  return std::nullopt;
}

}  // namespace muster::formulation
