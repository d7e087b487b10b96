#include "solver/engine/choice_places.h"

#include <algorithm>
#include <utility>

#include "solver/formulation/departures.h"

namespace muster::engine {

ChoicePlaces::ChoicePlaces(const Problem& problem, const column_generation::RestrictedMaster& whole,
                           const formulation::FormulationSolution& solution)
    : problem_(problem), whole_(whole), demand_(whole.demand), solution_(solution) {}

slots::SlotTask ChoicePlaces::task(const QueueBounds& bounds) {
  slots::SlotTask task{problem_, whole_.base, bounds, {}, {}, {}};
  if (const auto& most = problem_.snapshot->policy.max_moves) task.most_moves = *most;
  for (const formulation::RunningCellIndex cell : demand_.running.indices()) keep(cell, task);
  for (const formulation::GangClassIndex index : demand_.gang_classes.indices()) place(index, task.placed);
  const auto rank = [&](const slots::NewPods& pods) {
    const Gang& gang = problem_.gangs[pods.gang];
    return std::pair(-static_cast<std::int64_t>(gang.priority), -gang.times.seniority);
  };
  std::ranges::stable_sort(task.placed, {}, rank);
  return task;
}

void ChoicePlaces::keep(formulation::RunningCellIndex index, slots::SlotTask& task) {
  const formulation::RunningCell& cell = demand_.running[index];
  std::int64_t kept = cell.count();
  for (const auto& [channel, pods] : solution_.evicted[index]) kept -= pods;
  const Work cost = demand_.classes[cell.stay].weighted_work;
  const bool is_movable = !cell.move.is_none();
  slots::NodeFilter nodes = nullptr;
  if (is_movable && !solution_.by_zone[cell.move].empty()) {
    std::set<formulation::ZoneIndex> zones;
    std::int64_t moved = 0;
    for (std::size_t zone = 0; zone < solution_.by_zone[cell.move].size(); ++zone)
      if (const std::int64_t pods = solution_.by_zone[cell.move][zone]; pods > 0) {
        moved += pods;
        zones.insert(formulation::ZoneIndex(zone));
      }
    // A cell that is moved as a whole has no way back: a part of it at home could tear its gang apart.
    if (moved >= cell.count()) {
      task.placed.push_back({problem_.pods[cell.pods.front()].gang, cell.pods, nodes_in(zones)});
      return;
    }
    for (const PodIndex pod : cell.pods) zones.insert(whole_.zones.of_node[problem_.pods[pod].node]);
    nodes = nodes_in(zones);
  }
  task.kept.push_back({cell.pods, std::max<std::int64_t>(0, kept), is_movable, cost, nodes});
}

void ChoicePlaces::place(formulation::GangClassIndex index, std::vector<slots::NewPods>& placed) {
  const formulation::GangClass& gang_class = demand_.gang_classes[index];
  const std::int64_t gangs = std::min(solution_.gangs[index.value()], gang_class.size());
  if (gang_class.is_singles) return;
  if (gang_class.minimum > 0) return place_equal(gang_class, gangs, placed);
  slots::NewPods all{gang_class.gangs.front(), {}, nullptr};
  for (const formulation::CellIndex index_of_cell : gang_class.cells) {
    const formulation::Cell& cell = demand_.cells[index_of_cell];
    if (!cell.moves.is_none() || solution_.pods[index_of_cell] == 0) continue;
    const auto count = std::min(solution_.pods[index_of_cell], cell.count());
    all.pods.insert(all.pods.end(), cell.pods.begin(), cell.pods.begin() + count);
    all.nodes = nodes_of(index_of_cell);
  }
  if (!all.pods.empty()) placed.push_back(std::move(all));
}

// Several gangs of one cell: the oldest, and of each as many pods beyond its minimum as there are left.
void ChoicePlaces::place_equal(const formulation::GangClass& gang_class, std::int64_t gangs,
                               std::vector<slots::NewPods>& placed) {
  const formulation::CellIndex index = gang_class.cells.front();
  std::int64_t beyond = solution_.pods[index] - gangs * gang_class.minimum;
  for (std::int64_t g = 0; g < gangs; ++g) {
    const GangIndex gang = gang_class.gangs[static_cast<std::size_t>(g)];
    const std::int64_t more = std::clamp<std::int64_t>(beyond, 0, demand_.cells[index].count() - gang_class.minimum);
    beyond -= more;
    slots::NewPods pods{gang, {}, nodes_of(index)};
    for (const PodIndex pod : problem_.gangs[gang].pods)
      if (problem_.pods[pod].status == PodStatus::kPending && !whole_.before.is_present(pod) &&
          std::ssize(pods.pods) < gang_class.minimum + more)
        pods.pods.push_back(pod);
    placed.push_back(std::move(pods));
  }
}

// The zones in which the solution places some of the cell; null: anywhere.
slots::NodeFilter ChoicePlaces::nodes_of(formulation::CellIndex cell) {
  const std::vector<std::int64_t>& by_zone = solution_.by_zone[cell];
  if (by_zone.empty()) return nullptr;
  std::set<formulation::ZoneIndex> zones;
  for (std::size_t zone = 0; zone < by_zone.size(); ++zone)
    if (by_zone[zone] > 0) zones.insert(formulation::ZoneIndex(zone));
  return nodes_in(zones);
}

slots::NodeFilter ChoicePlaces::nodes_in(const std::set<formulation::ZoneIndex>& zones) {
  const auto [found, is_new] = filters_.try_emplace(zones);
  if (is_new) {
    found->second.resize(problem_.nodes.size());
    for (const NodeIndex node : problem_.nodes.indices())
      found->second[node.value()] = zones.contains(whole_.zones.of_node[node]);
  }
  return &found->second;
}

std::vector<PlannedEviction> ChoicePlaces::departures(const ClusterState& state,
                                                      const std::vector<formulation::EvictionChannel>& channels) const {
  Indexed<formulation::RunningCellIndex, std::vector<PodIndex>> leaving(demand_.running.size());
  for (const formulation::RunningCellIndex cell : demand_.running.indices())
    for (const PodIndex pod : demand_.running[cell].pods)
      if (!state.is_present(pod) || !is_home(state, pod)) leaving[cell].push_back(pod);
  return formulation::explain_departures({problem_, demand_, channels}, solution_.evicted, leaving, state);
}

}  // namespace muster::engine
