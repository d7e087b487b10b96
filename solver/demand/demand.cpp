#include "solver/demand/demand.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/problem/eviction_loss.h"

namespace muster::formulation {
namespace {

struct GangKey {
  QueueIndex queue;
  std::int32_t priority;
  bool preemptible;
  PreemptionPolicy preemption_policy;
  DemandIndex demand;
  std::int64_t pods, minimum;
  std::int64_t waited;  // 0 if all or nothing is placed: age then only decides which gang is first
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

struct DemandKey {
  PodClassIndex pod_class;
  Work weighted_work;
  NodeIndex nominated_node;
  friend auto operator<=>(const DemandKey&, const DemandKey&) = default;
};

// The properties that running pods of one leaf have to share to be one cell. The last three describe where they run and
// for how long, as far as it matters: domains at the levels that the gang asks for, minimum run times that are over.
struct RunningKey {
  GroupIndex leaf;  // of single pods: none
  PodClassIndex pod_class;
  Work weighted_work;
  NodeIndex nominated_node;
  std::int64_t run_seconds;
  QueueAmounts usage;
  std::vector<DomainIndex> domains;
  std::vector<bool> has_run, counted;
  BudgetSetIndex budgets;
  std::vector<DomainIndex> counted_in;  // by affinity and spread
  std::int64_t loss = 0;                // if there is a price
  friend auto operator<=>(const RunningKey&, const RunningKey&) = default;
};

struct SinglesKey {
  QueueIndex queue;
  std::int32_t priority, minimum;
  PreemptionPolicy preemption_policy;
  bool evicted, moved;
  RunningKey pod;
  friend auto operator<=>(const SinglesKey&, const SinglesKey&) = default;
};

class Collector {
 public:
  Collector(const Problem& problem, const EvictionCandidates& candidates, const ClusterState& state)
      : problem_(problem),
        candidates_(candidates),
        state_(state),
        free_or_freed_(problem, ClusterState::Releasing::kFreed),
        has_price_(problem.snapshot->policy.over_time.eviction_price.has_value()) {}

  Demand run() {
    demand_.running_cell_of.assign(problem_.pods.size(), RunningCellIndex::none());
    own_class_.assign(problem_.gangs.size(), GangClassIndex::none());
    lacks_resources_.assign(problem_.gangs.size(), false);
    std::vector<GangIndex> waiting;
    for (GangIndex gang : problem_.gangs.indices())
      if (may_be_placed(gang)) waiting.push_back(gang);
    for (GangIndex gang : problem_.gangs.indices())
      if (candidates_.gangs[gang].any()) add_running(gang);
    for (GangIndex gang : waiting) add(gang);
    for (RunningCellIndex cell : demand_.running.indices()) add_move(cell);
    for (GangClass& gang_class : demand_.gang_classes)
      if (!gang_class.is_singles) sort_by_age(gang_class);
    return std::move(demand_);
  }

 private:
  bool may_be_placed(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    if (!problem_.snapshot->policy.actions.place) return false;
    if (!fit::queue_exists(gang) || !fit::may_start(gang)) return false;
    if (members_below(state_, gang.root) > 0 || min_resources_.hold(free_or_freed_, index)) return true;
    if (!candidates_.any) return false;
    lacks_resources_[index.value()] = true;
    find_lacking(index);
    return true;
  }

  void find_lacking(GangIndex index) {
    std::vector<bool> usable = usable_classes(problem_, index);
    std::vector<std::vector<bool>>& parts = demand_.counted_parts;
    if (std::ranges::find(usable, false) != usable.end() && std::ranges::find(parts, usable) == parts.end())
      parts.push_back(std::move(usable));
  }

  // --- what runs and may leave

  bool asks_for_topology(const Gang& gang) const {
    return std::ranges::any_of(gang.groups, [&](GroupIndex group) {
      return !problem_.groups[group].required_level.is_none() || !problem_.groups[group].preferred_level.is_none();
    });
  }

  RunningKey running_key(PodIndex index) const {
    const Pod& pod = problem_.pods[index];
    const Gang& gang = problem_.gangs[pod.gang];
    RunningKey key{pod.group,
                   pod.pod_class,
                   pod.weighted_work,
                   pod.nominated_node,
                   pod.run_seconds,
                   queue_usage(problem_.class_of(index), problem_.class_of(pod.node)),
                   {},
                   {},
                   {},
                   problem_.disruption_budgets.set_of(index),
                   domains_counted_in(problem_.class_of(index), pod.node),
                   has_price_ ? loss_of(problem_, index) : 0};
    for (const std::vector<bool>& part : demand_.counted_parts)
      key.counted.push_back(part[problem_.nodes[pod.node].node_class.value()]);
    if (asks_for_topology(gang)) key.domains = problem_.nodes[pod.node].domains;
    if (gang.queue.is_none()) return key;
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      key.has_run.push_back(pod.run_time >= problem_.queues[queue].preempt_min_runtime);
      key.has_run.push_back(pod.run_time >= problem_.queues[queue].reclaim_min_runtime);
    }
    return key;
  }

  std::vector<DomainIndex> domains_counted_in(const PodClass& pod_class, NodeIndex node) const {
    std::vector<DomainIndex> domains;
    for (const AffinityIndex affinity : pod_class.affinity_matched)
      for (const AntiAffinity& term : problem_.inter_pod.affinities[affinity].terms)
        domains.push_back(term.domain_of[node]);
    for (const SpreadIndex spread : pod_class.spread_matched)
      domains.push_back(problem_.inter_pod.spreads[spread].domain_of[node]);
    return domains;
  }

  RunningCellIndex new_running_cell(GangClassIndex gang_class, PodIndex pod, const RunningKey& key) {
    const Pod& p = problem_.pods[pod];
    const DemandIndex stay = demand_.classes.push_back(
        {p.pod_class, p.weighted_work, p.nominated_node, 0, RunningCellIndex(demand_.running.size())});
    const RunningCellIndex index = demand_.running.push_back(
        {gang_class, p.group, stay, CellIndex::none(), {}, p.node, key.budgets, key.usage, evicted_value(p)});
    demand_.gang_classes[gang_class].running.push_back(index);
    return index;
  }

  void join(PodIndex pod, RunningCellIndex cell) {
    demand_.running[cell].pods.push_back(pod);
    ++demand_.classes[demand_.running[cell].stay].count;
    demand_.running_cell_of[pod] = cell;
  }

  void add_running(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    std::vector<PodIndex> pods;
    for (PodIndex pod : gang.pods)
      if (problem_.pods[pod].status == PodStatus::kRunning && state_.is_present(pod)) pods.push_back(pod);
    if (pods.empty()) return;
    const Group& root = problem_.groups[gang.root];
    const DepartureOptions& leaving = candidates_.gangs[index];
    if (gang.pods.size() == 1 && root.is_leaf() && root.minimum <= 1 && !leaving.stale && !asks_for_topology(gang)) {
      add_single(index, pods.front());
      return;
    }
    const GangClassIndex class_index = new_class(index);
    demand_.gang_classes[class_index].minimum_runs = is_satisfied(state_, gang.root);
    own_class_[index] = class_index;
    std::map<RunningKey, RunningCellIndex> cells;
    for (PodIndex pod : pods) {
      const RunningKey key = running_key(pod);
      auto found = cells.find(key);
      if (found == cells.end()) found = cells.emplace(key, new_running_cell(class_index, pod, key)).first;
      join(pod, found->second);
    }
  }

  void add_single(GangIndex index, PodIndex pod) {
    const Gang& gang = problem_.gangs[index];
    SinglesKey key{gang.queue,
                   gang.priority,
                   problem_.groups[gang.root].minimum,
                   gang.preemption_policy,
                   candidates_.gangs[index].evicted,
                   candidates_.gangs[index].moved,
                   running_key(pod)};
    key.pod.leaf = GroupIndex::none();
    const auto [found, is_new] = singles_.try_emplace(key, RunningCellIndex::none());
    if (is_new) {
      const GangClassIndex class_index = new_class(index);
      demand_.gang_classes[class_index].is_singles = true;
      found->second = new_running_cell(class_index, pod, key.pod);
    } else {
      demand_.gang_classes[demand_.running[found->second].gang_class].gangs.push_back(index);
    }
    join(pod, found->second);
  }

  GangClassIndex new_class(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    GangClass gang_class;
    gang_class.gangs = {index};
    gang_class.leaving = candidates_.gangs[index];
    gang_class.queue = gang.queue;
    gang_class.priority = gang.priority;
    gang_class.preemptible = gang.preemptible;
    return demand_.gang_classes.push_back(std::move(gang_class));
  }

  // The pods of a running cell once more, as demand that is placed.
  void add_move(RunningCellIndex index) {
    RunningCell& running = demand_.running[index];
    GangClass& gang_class = demand_.gang_classes[running.gang_class];
    if (!gang_class.leaving.moved) return;
    Cell cell{running.gang_class, running.leaf, DemandIndex::none(), {}, index};
    for (PodIndex pod : running.pods) cell.demand = demand_of(pod);
    if (gang_class.is_singles)
      cell.pods = {running.pods.front()};
    else
      cell.pods = running.pods;
    running.move = demand_.cells.push_back(std::move(cell));
    gang_class.cells.push_back(running.move);
  }

  // --- what waits

  DemandIndex demand_of(PodIndex index) {
    const Pod& pod = problem_.pods[index];
    const DemandKey key{pod.pod_class, pod.weighted_work, pod.nominated_node};
    const auto [found, is_new] = demand_index_.try_emplace(key, DemandIndex(demand_.classes.size()));
    if (is_new)
      demand_.classes.push_back({key.pod_class, key.weighted_work, key.nominated_node, 0, RunningCellIndex::none()});
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
          cells.push_back({GangClassIndex::none(), leaf, demand, {pod}, RunningCellIndex::none()});
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
    if (!own_class_[index].is_none()) return add_cells(own_class_[index], std::move(cells));
    if (is_simple(gang, cells) && !lacks_resources_[index.value()]) {
      const std::int64_t pods = cells[0].count();
      const std::int64_t minimum = problem_.groups[gang.root].minimum;
      if (minimum > pods) return discard(cells);
      const GangKey key{gang.queue,      gang.priority, gang.preemptible, gang.preemption_policy,
                        cells[0].demand, pods,          minimum,          minimum == pods ? 0 : gang.times.seniority};
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
    const GangClassIndex class_index = new_class(index);
    demand_.gang_classes[class_index].minimum = minimum;
    demand_.gang_classes[class_index].lacks_resources = lacks_resources_[index.value()];
    demand_.gang_classes[class_index].minimum_runs = is_satisfied(state_, problem_.gangs[index].root);
    add_cells(class_index, std::move(cells));
  }

  void add_cells(GangClassIndex class_index, std::vector<Cell> cells) {
    for (Cell& cell : cells) {
      cell.gang_class = class_index;
      demand_.gang_classes[class_index].cells.push_back(demand_.cells.push_back(std::move(cell)));
    }
  }

  void sort_by_age(GangClass& gang_class) const {
    std::stable_sort(gang_class.gangs.begin(), gang_class.gangs.end(), [&](GangIndex a, GangIndex b) {
      return problem_.gangs[a].times.seniority > problem_.gangs[b].times.seniority;
    });
  }

  const Problem& problem_;
  const EvictionCandidates& candidates_;
  const ClusterState& state_;
  ClusterState free_or_freed_;  // as the snapshot has it
  bool has_price_ = false;      // of evictions
  MinResources min_resources_;  // of that
  Demand demand_;
  std::map<DemandKey, DemandIndex> demand_index_;
  std::map<GangKey, GangClassIndex> gang_index_;
  std::map<SinglesKey, RunningCellIndex> singles_;
  Indexed<GangIndex, GangClassIndex> own_class_;  // of gangs that may leave
  std::vector<bool> lacks_resources_;             // by gang: its minResources are not covered without evictions
};

}  // namespace

Demand collect_demand(const Problem& problem, const EvictionCandidates& candidates, const ClusterState& state) {
  return Collector(problem, candidates, state).run();
}

std::vector<bool> usable_classes(const Problem& problem, GangIndex gang) {
  std::vector<bool> usable(problem.node_classes.size(), false);
  for (const PodIndex pod : problem.gangs[gang].pods) {
    const PodStatus status = problem.pods[pod].status;
    if (status == PodStatus::kFailed || status == PodStatus::kReleasing) continue;
    for (std::size_t c = 0; c < usable.size(); ++c) usable[c] = usable[c] || problem.class_of(pod).allowed[c];
  }
  return usable;
}

void remove_candidates(const Demand& demand, ClusterState& state) {
  for (const RunningCell& cell : demand.running)
    for (const PodIndex pod : cell.pods) state.take(pod);
}

Indexed<QueueIndex, std::vector<GangClassIndex>> classes_by_queue(const Problem& problem, const Demand& demand) {
  Indexed<QueueIndex, std::vector<GangClassIndex>> result(problem.queues.size());
  for (const GangClassIndex index : demand.gang_classes.indices())
    if (const QueueIndex queue = demand.gang_classes[index].queue; !queue.is_none()) result[queue].push_back(index);
  return result;
}

}  // namespace muster::formulation
