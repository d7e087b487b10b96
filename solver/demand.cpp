#include "solver/demand.h"

#include <algorithm>
#include <map>
#include <utility>

#include "heuristics/cluster_state.h"
#include "heuristics/fit.h"
#include "heuristics/groups.h"

namespace muster {
namespace {

struct GangKey {
  QueueIndex queue;
  std::int32_t priority;
  bool preemptible;
  DemandIndex demand;
  std::int64_t pods, minimum;
  std::int64_t waited;  // 0 where all or nothing is placed: age then only decides who is first
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

struct DemandKey {
  PodClassIndex pod_class;
  Work weighted_work;
  NodeIndex nominated_node;
  friend auto operator<=>(const DemandKey&, const DemandKey&) = default;
};

class Collector {
 public:
  Collector(const Problem& problem, const std::vector<bool>& excluded, const ClusterState& state)
      : problem_(problem),
        excluded_(excluded),
        state_(state),
        free_or_freed_(problem, ClusterState::Releasing::kFreed) {}

  Demand run() {
    for (GangIndex gang : problem_.gangs.indices())
      if (!excluded_[gang.value()] && may_be_placed(gang)) add(gang);
    for (GangClass& gang_class : demand_.gang_classes) sort_by_age(gang_class);
    return std::move(demand_);
  }

 private:
  bool may_be_placed(GangIndex index) const {
    const Gang& gang = problem_.gangs[index];
    return fit::queue_exists(gang) && fit::timeout(gang) &&
           (members_below(state_, gang.root) > 0 || fit::min_resources(free_or_freed_, index));
  }

  DemandIndex demand_of(PodIndex index) {
    const Pod& pod = problem_.pods[index];
    const DemandKey key{pod.pod_class, pod.weighted_work, pod.nominated_node};
    const auto [found, is_new] = demand_index_.try_emplace(key, DemandIndex(demand_.classes.size()));
    if (is_new) demand_.classes.push_back({key.pod_class, key.weighted_work, key.nominated_node, 0});
    ++demand_.classes[found->second].count;
    return found->second;
  }

  // The pending pods of each leaf, by demand class, in order of first appearance.
  std::vector<Cell> cells_of(const Gang& gang) {
    std::vector<Cell> cells;
    for (GroupIndex leaf : gang.groups) {
      const std::size_t first = cells.size();
      for (PodIndex pod : problem_.groups[leaf].pods) {
        if (problem_.pods[pod].status != PodStatus::kPending || state_.is_present(pod)) continue;
        const DemandIndex demand = demand_of(pod);
        const auto at = std::find_if(cells.begin() + static_cast<std::ptrdiff_t>(first), cells.end(),
                                     [&](const Cell& cell) { return cell.demand == demand; });
        if (at != cells.end())
          at->pods.push_back(pod);
        else
          cells.push_back({GangClassIndex::none(), leaf, demand, {pod}});
      }
    }
    return cells;
  }

  bool is_simple(const Gang& gang, const std::vector<Cell>& cells) const {
    const Group& root = problem_.groups[gang.root];
    return root.is_leaf() && cells.size() == 1 && root.required_level.is_none() && root.preferred_level.is_none() &&
           state_.members(gang.root) == 0 && root.minimum >= 1;
  }

  void add(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    std::vector<Cell> cells = cells_of(gang);
    if (cells.empty()) return;
    if (is_simple(gang, cells)) {
      const std::int64_t pods = cells[0].count();
      const std::int64_t minimum = problem_.groups[gang.root].minimum;
      if (minimum > pods) return discard(cells);
      const GangKey key{gang.queue,
                        gang.priority,
                        gang.preemptible,
                        cells[0].demand,
                        pods,
                        minimum,
                        minimum == pods ? 0 : gang.waited_seconds};
      const auto [found, is_new] = gang_index_.try_emplace(key, GangClassIndex(demand_.gang_classes.size()));
      if (!is_new) {
        demand_.gang_classes[found->second].gangs.push_back(index);
        return;
      }
      add_class(index, std::move(cells), minimum);
      return;
    }
    add_class(index, std::move(cells), 0);
  }

  void discard(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) demand_.classes[cell.demand].count -= cell.count();
  }

  void add_class(GangIndex index, std::vector<Cell> cells, std::int64_t minimum) {
    const Gang& gang = problem_.gangs[index];
    const GangClassIndex class_index(demand_.gang_classes.size());
    GangClass gang_class{{index}, {}, gang.queue, gang.priority, gang.preemptible, false, minimum};
    gang_class.minimum_runs = is_satisfied(state_, gang.root);
    for (Cell& cell : cells) {
      cell.gang_class = class_index;
      gang_class.cells.push_back(demand_.cells.push_back(std::move(cell)));
    }
    demand_.gang_classes.push_back(std::move(gang_class));
  }

  void sort_by_age(GangClass& gang_class) const {
    std::stable_sort(gang_class.gangs.begin(), gang_class.gangs.end(), [&](GangIndex a, GangIndex b) {
      return problem_.gangs[a].waited_seconds > problem_.gangs[b].waited_seconds;
    });
  }

  const Problem& problem_;
  const std::vector<bool>& excluded_;
  const ClusterState& state_;
  ClusterState free_or_freed_;  // as the snapshot has it
  Demand demand_;
  std::map<DemandKey, DemandIndex> demand_index_;
  std::map<GangKey, GangClassIndex> gang_index_;
};

}  // namespace

Demand collect_demand(const Problem& problem, const std::vector<bool>& excluded, const ClusterState& state) {
  return Collector(problem, excluded, state).run();
}

}  // namespace muster
