#include "solver/formulation/plan_columns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "solver/rows/asked_pods.h"

namespace muster::formulation {
namespace {

class Reading {
 public:
  Reading(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions)
      : in_(input),
        columns_(columns),
        evictions_(evictions),
        placed_(input.problem.pods.size(), NodeIndex::none()),
        evicted_(input.problem.pods.size(), nullptr) {}

  PlanColumns read(const Plan& plan) {
    for (const Placement& placement : plan.placements) placed_[placement.pod] = placement.node;
    for (const Eviction& eviction : plan.evictions)
      if (placed_[eviction.pod].is_none()) evicted_[eviction.pod] = &eviction;
    for (const GangClassIndex index : in_.demand.gang_classes.indices()) read_class(index);
    read_staying();
    result_.decisions.assign(values_.begin(), values_.end());
    return std::move(result_);
  }

 private:
  void read_class(GangClassIndex index) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    const GangColumn& column = columns_.of_gang(index);
    for (const CellIndex cell : gang_class.cells)
      for (const CellColumn& part : columns_.of_cell(cell)) values_[part.column];
    for (const ExitColumns& exit : columns_.exits(index)) {
      if (exit.gone >= 0) values_[exit.gone];
      for (const std::int32_t surplus : exit.surplus) values_[surplus];
    }
    for (const CellIndex cell : gang_class.cells) {
      if (in_.demand.cells[cell].moves.is_none())
        read_placed(cell, gang_class);
      else
        read_moved(cell);
    }
    if (column.split >= 0) values_[column.split];
    if (!gang_class.running.empty())
      for (const GangIndex gang : gang_class.gangs) read_exits(index, gang);
    // A gang that waits is admitted if any of its pods is placed.
    if (gang_class.running.empty() && column.admitted >= 0 && gang_class.minimum > 0)
      values_[column.admitted] = std::ranges::count_if(gang_class.gangs, [&](GangIndex gang) {
        return std::ranges::any_of(in_.problem.gangs[gang].pods, [&](PodIndex pod) { return is_placed(pod); });
      });
  }

  bool is_placed(PodIndex pod) const {
    return !placed_[pod].is_none() && in_.problem.pods[pod].status == PodStatus::kPending;
  }

  const CellColumn& column_in(CellIndex cell, ZoneIndex zone) const {
    return columns_.of_cell(cell)[columns_.of_cell(cell).size() > 1 ? zone.value() : 0];
  }

  void add_place(CellIndex cell, NodeIndex node) {
    const ZoneIndex zone = columns_.of_cell(cell).size() > 1 ? in_.zones.of_node[node] : ZoneIndex::none();
    result_.places.push_back({in_.demand.cells[cell].demand, zone, node});
  }

  // Where no pod has a place, one that is moved within its zone stays.
  void read_moved(CellIndex cell) {
    const RunningCellIndex moves = in_.demand.cells[cell].moves;
    for (const PodIndex pod : in_.demand.running[moves].pods) {
      if (placed_[pod].is_none()) continue;
      const ZoneIndex to = in_.zones.of_node[placed_[pod]];
      if (in_.pooled && to == in_.zones.of_node[in_.problem.pods[pod].node]) {
        result_.places.push_back({in_.demand.running[moves].stay, zone_of(in_, moves), placed_[pod]});
      } else {
        ++values_[column_in(cell, to).column];
        add_place(cell, placed_[pod]);
      }
    }
  }

  // Whole gangs have one column for all of their pods.
  void read_placed(CellIndex cell, const GangClass& gang_class) {
    const PodClassIndex pod_class = in_.demand.classes[in_.demand.cells[cell].demand].pod_class;
    std::map<std::int32_t, std::int64_t> pods;  // by column
    const auto count = [&](PodIndex pod) {
      if (!is_placed(pod) || in_.problem.pods[pod].pod_class != pod_class) return;
      ++pods[column_in(cell, in_.zones.of_node[placed_[pod]]).column];
      add_place(cell, placed_[pod]);
    };
    if (gang_class.gangs.size() == 1) {
      std::ranges::for_each(in_.demand.cells[cell].pods, count);
    } else {
      for (const GangIndex gang : gang_class.gangs) std::ranges::for_each(in_.problem.gangs[gang].pods, count);
    }
    for (const auto& [column, number] : pods) values_[column] = number / column_in(cell, ZoneIndex(0)).pods;
  }

  // The columns of one running gang's exits. A gang whose pods all leave by one channel, or whose split is of no use,
  // leaves whole by that of the first.
  void read_exits(GangClassIndex index, GangIndex gang) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    std::map<RunningCellIndex, std::map<std::size_t, std::int64_t>> leaving;
    std::set<std::size_t> channels;
    bool is_whole = true;
    std::optional<std::size_t> first;
    for (const PodIndex pod : in_.problem.gangs[gang].pods) {
      const RunningCellIndex cell = in_.demand.running_cell_of[pod];
      if (cell.is_none()) continue;
      const auto channel = evicted_[pod] == nullptr ? std::nullopt : channel_of(index, *evicted_[pod]);
      is_whole = is_whole && evicted_[pod] != nullptr;
      if (!channel) continue;
      if (!first) first = channel;
      channels.insert(*channel);
      ++leaving[cell][*channel];
    }
    if (!first) return;
    const std::int32_t split = columns_.of_gang(index).split;
    const auto of_first = std::ranges::find(columns_.exits(index), *first, &ExitColumns::channel);
    if (is_whole && of_first->gone >= 0 && (channels.size() == 1 || split < 0)) {
      ++values_[of_first->gone];
      return;
    }
    if (is_whole && split >= 0) values_[split] = 1;
    for (const ExitColumns& exit : columns_.exits(index))
      for (std::size_t v = 0; v < exit.surplus.size(); ++v)
        values_[exit.surplus[v]] += leaving[gang_class.running[v]][exit.channel];
  }

  // The channel by which the plan evicts pods of the class.
  std::optional<std::size_t> channel_of(GangClassIndex victims, const Eviction& eviction) const {
    for (const ExitColumns& exit : columns_.exits(victims)) {
      const EvictionChannel& channel = evictions_.channel_of(exit);
      if (channel.reason != eviction.reason) continue;
      if (channel.reason == EvictionReason::kStale) return exit.channel;
      const bool claims = std::ranges::any_of(channel.claimants, [&](GangClassIndex claimant) {
        return std::ranges::count(in_.demand.gang_classes[claimant].gangs, eviction.for_gang) > 0;
      });
      if (claims) return exit.channel;
    }
    return std::nullopt;
  }

  void read_staying() {
    for (const RunningCellIndex cell : in_.demand.running.indices())
      for (const PodIndex pod : in_.demand.running[cell].pods)
        if (placed_[pod].is_none() && evicted_[pod] == nullptr)
          result_.places.push_back({in_.demand.running[cell].stay, zone_of(in_, cell), in_.problem.pods[pod].node});
  }

  const FormulationInput& in_;
  const GangColumns& columns_;
  const EvictionRows& evictions_;
  Indexed<PodIndex, NodeIndex> placed_;
  Indexed<PodIndex, const Eviction*> evicted_;  // and not moved
  std::map<std::int32_t, std::int64_t> values_;
  PlanColumns result_;
};

}  // namespace

PlanColumns plan_columns(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions,
                         const Plan& plan) {
  return Reading(input, columns, evictions).read(plan);
}

}  // namespace muster::formulation
