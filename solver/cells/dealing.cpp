#include "solver/cells/dealing.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/require.h"

namespace muster::cells {

namespace {

using Sums = std::array<double, kQueueResources>;

// What pods of one kind may use of each cell, and what has been dealt of it.
struct Pattern {
  std::vector<Sums> room, load;  // by cell
  Sums all{};                    // room of all cells
};

// Gangs whose largest pods are of one class.
struct Kind {
  std::vector<double> load;  // by cell
  double all = 0;
};

struct WaitingGang {
  GangIndex gang;
  PodClassIndex largest;
  Sums asked{};
  std::size_t scarce = kQueueGpu;  // the resource that it is measured by
};

class GangDealing {
 public:
  GangDealing(const Problem& problem, const DealingOptions& options, Dealing& dealing)
      : problem_(problem), options_(options), dealing_(dealing), room_of_class_(problem.node_classes.size()) {
    find_rooms();
  }

  // `closed`: gangs that go to no cell.
  void run(const Indexed<GangIndex, std::uint8_t>& closed) {
    std::vector<WaitingGang> gangs = waiting_gangs();
    std::erase_if(gangs, [&](const WaitingGang& waiting) { return closed[waiting.gang] != 0; });
    std::vector<const WaitingGang*> open;
    for (const WaitingGang& waiting : gangs) {
      const CellIndex cell = dealing_.cell_of_gang[waiting.gang];
      if (cell.is_none())
        open.push_back(&waiting);
      else
        add(waiting, cell);
    }
    for (std::size_t i = 0; i < open.size(); ++i) deal_gang(*open[i], i);
  }

 private:
  // By node class and cell: what may be used. If pods may leave, all that the nodes have counts.
  void find_rooms() {
    const Actions& actions = problem_.snapshot->policy.actions;
    const bool counts_used = !actions.preempt && !actions.consolidate;
    const Indexed<NodeIndex, QueueAmounts> used = used_of_nodes(problem_);
    for (const NodeIndex node : problem_.nodes.indices()) {
      const NodeClassIndex index = problem_.nodes[node].node_class;
      std::vector<Sums>& rooms = room_of_class_[index];
      rooms.resize(dealing_.size());
      const QueueAmounts capacity = capacity_of(problem_.node_classes[index]);
      for (std::size_t r = 0; r < kQueueResources; ++r)
        rooms[dealing_.cell_of_node[node].value()][r] +=
            static_cast<double>(std::max<Amount>(0, capacity[r] - (counts_used ? used[node][r] : 0)));
    }
  }

  std::vector<WaitingGang> waiting_gangs() const {
    std::vector<WaitingGang> gangs;
    for (const GangIndex index : problem_.gangs.indices()) {
      WaitingGang waiting{index, {}, {}};
      Work largest = 0;
      for (const PodIndex pod : problem_.gangs[index].pods) {
        if (problem_.pods[pod].status != PodStatus::kPending) continue;
        const PodClass& pod_class = problem_.class_of(pod);
        waiting.asked[kQueueGpu] += static_cast<double>(pod_class.smallest_gpu_usage);
        waiting.asked[kQueueCpu] += static_cast<double>(pod_class.request[kCpu.value()]);
        waiting.asked[kQueueMemory] += static_cast<double>(pod_class.request[kMemory.value()]);
        if (pod_class.work <= largest) continue;
        largest = pod_class.work;
        waiting.largest = problem_.pods[pod].pod_class;
      }
      if (waiting.largest.is_none()) continue;
      if (waiting.asked[kQueueGpu] <= 0) waiting.scarce = kQueueCpu;
      gangs.push_back(waiting);
    }
    std::ranges::stable_sort(gangs, [&](const WaitingGang& a, const WaitingGang& b) {
      return std::tuple(problem_.gangs[b.gang].priority, b.asked[kQueueGpu], b.asked[kQueueCpu]) <
             std::tuple(problem_.gangs[a.gang].priority, a.asked[kQueueGpu], a.asked[kQueueCpu]);
    });
    return gangs;
  }

  Pattern& pattern_of(PodClassIndex pod_class) {
    const auto [found, is_new] = patterns_.try_emplace(problem_.pod_classes[pod_class].allowed);
    Pattern& pattern = found->second;
    if (!is_new) return pattern;
    pattern.room.resize(dealing_.size());
    pattern.load.resize(dealing_.size());
    for (const NodeClassIndex index : problem_.node_classes.indices()) {
      if (!found->first[index.value()]) continue;
      for (std::size_t cell = 0; cell < room_of_class_[index].size(); ++cell)
        for (std::size_t r = 0; r < kQueueResources; ++r) {
          pattern.room[cell][r] += room_of_class_[index][cell][r];
          pattern.all[r] += room_of_class_[index][cell][r];
        }
    }
    return pattern;
  }

  void add(const WaitingGang& waiting, CellIndex cell) {
    Pattern& pattern = pattern_of(waiting.largest);
    for (std::size_t r = 0; r < kQueueResources; ++r) pattern.load[cell.value()][r] += waiting.asked[r];
    Kind& kind = kinds_[waiting.largest];
    kind.load.resize(dealing_.size());
    kind.load[cell.value()] += waiting.asked[waiting.scarce];
    kind.all += waiting.asked[waiting.scarce];
  }

  // How full the cell is with pods of this pattern, and with gangs of this kind, each relative to all cells.
  double load_of(const WaitingGang& waiting, const Pattern& pattern, const Kind& kind, std::size_t cell) const {
    double load = 0;
    for (std::size_t r = 0; r < kQueueResources; ++r)
      if (waiting.asked[r] > 0 && pattern.room[cell][r] > 0)
        load += (pattern.load[cell][r] + waiting.asked[r]) / pattern.room[cell][r];
    const double of_kind = (kind.load.empty() ? 0 : kind.load[cell]) + waiting.asked[waiting.scarce];
    return load + of_kind / pattern.room[cell][waiting.scarce] * pattern.all[waiting.scarce] /
                      (kind.all + waiting.asked[waiting.scarce]) / static_cast<double>(dealing_.size());
  }

  // `turn`: gangs that are left over after a round begin with another cell in the next one, if cells are equally full.
  void deal_gang(const WaitingGang& waiting, std::size_t turn) {
    const Pattern& pattern = pattern_of(waiting.largest);
    const Kind& kind = kinds_[waiting.largest];
    std::size_t best = dealing_.size(), roomiest = 0;
    double least = 0;
    const std::size_t cells = dealing_.size(), first = (turn * options_.round) % cells;
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t cell = (first + i) % cells;
      if (pattern.room[cell][waiting.scarce] > pattern.room[roomiest][waiting.scarce]) roomiest = cell;
      if (pattern.room[cell][waiting.scarce] < waiting.asked[waiting.scarce]) continue;
      const double load = load_of(waiting, pattern, kind, cell);
      if (best < cells && load >= least) continue;
      best = cell;
      least = load;
    }
    if (best == cells) {
      ++dealing_.too_large;
      best = roomiest;
    }
    dealing_.cell_of_gang[waiting.gang] = CellIndex(best);
    add(waiting, CellIndex(best));
  }

  const Problem& problem_;
  const DealingOptions& options_;
  Dealing& dealing_;
  Indexed<NodeClassIndex, std::vector<Sums>> room_of_class_;  // by cell
  std::map<std::vector<bool>, Pattern> patterns_;
  std::map<PodClassIndex, Kind> kinds_;
};

// A gang that runs in several cells may get further pods in one, if the others are enough for it and no rule asks where
// they are.
bool takes_more(const Problem& problem, const Gang& gang) {
  if (gang.groups.size() > 1 || !problem.groups[gang.root].required_level.is_none()) return false;
  std::int32_t running = 0;
  for (const PodIndex pod : gang.pods)
    if (problem.pods[pod].status == PodStatus::kRunning) ++running;
  return running >= problem.groups[gang.root].minimum;
}

}  // namespace

void settle_gangs(const Problem& problem, const Plan* plan, Dealing& dealing) {
  MUSTER_REQUIRE(dealing.cell_of_node.size() == problem.nodes.size());
  dealing.cell_of_gang.resize(problem.gangs.size());
  dealing.is_spanning.resize(problem.gangs.size());
  for (const PodIndex index : problem.pods.indices()) {
    const Pod& pod = problem.pods[index];
    if (pod.node.is_none() || dealing.is_spanning[pod.gang] != 0) continue;
    CellIndex& cell = dealing.cell_of_gang[pod.gang];
    if (!cell.is_none() && cell != dealing.cell_of_node[pod.node]) dealing.is_spanning[pod.gang] = 1;
    cell = dealing.cell_of_node[pod.node];
  }
  for (const GangIndex gang : problem.gangs.indices())
    if (dealing.is_spanning[gang] != 0) dealing.cell_of_gang[gang] = CellIndex::none();
  if (plan == nullptr) return;
  const Indexed<GangIndex, std::uint8_t> is_scattered = scattered_gangs(problem, dealing, *plan);
  for (const Placement& placement : plan->placements) {
    CellIndex& cell = dealing.cell_of_gang[problem.pods[placement.pod].gang];
    if (cell.is_none()) cell = dealing.cell_of_node[placement.node];
  }
  for (const GangIndex gang : problem.gangs.indices())
    if (is_scattered[gang] != 0) dealing.cell_of_gang[gang] = CellIndex::none();
}

Indexed<GangIndex, std::uint8_t> scattered_gangs(const Problem& problem, const Dealing& dealing, const Plan& plan) {
  Indexed<GangIndex, std::uint8_t> is_scattered(problem.gangs.size());
  Indexed<GangIndex, CellIndex> cell_of = dealing.cell_of_gang;
  for (const Placement& placement : plan.placements) {
    const Pod& pod = problem.pods[placement.pod];
    const CellIndex here = dealing.cell_of_node[placement.node];
    CellIndex& cell = cell_of[pod.gang];
    const bool has_moved = !pod.node.is_none() && dealing.cell_of_node[pod.node] != here;
    if (has_moved || (!cell.is_none() && cell != here)) is_scattered[pod.gang] = 1;
    if (pod.node.is_none()) cell = here;
  }
  return is_scattered;
}

bool looks_beyond_cells(const Problem& problem, const Gang& gang) {
  for (const PodIndex pod : gang.pods) {
    const PodClass& pod_class = problem.class_of(pod);
    if (problem.pods[pod].status == PodStatus::kPending &&
        (!pod_class.affinity.is_none() || !pod_class.spread_owned.empty()))
      return true;
  }
  return false;
}

Dealing deal(const Problem& problem, const DealingOptions& options) {
  Dealing dealing;
  deal_nodes(problem, options, dealing);
  settle_gangs(problem, options.plan, dealing);
  Indexed<GangIndex, std::uint8_t> closed(problem.gangs.size());
  for (const GangIndex index : problem.gangs.indices()) {
    const Gang& gang = problem.gangs[index];
    const bool looks_beyond = looks_beyond_cells(problem, gang);
    const bool is_stuck = dealing.is_spanning[index] != 0 && !takes_more(problem, gang);
    closed[index] = looks_beyond || is_stuck || !gang.times.may_start() || !gang.queue_is_leaf ? 1 : 0;
    if (closed[index] == 0) continue;
    if (looks_beyond || is_stuck)
      dealing.left_out +=
          std::ranges::any_of(gang.pods, [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kPending; });
    dealing.cell_of_gang[index] = CellIndex::none();
  }
  GangDealing(problem, options, dealing).run(closed);
  return dealing;
}

namespace {

constexpr Amount kMicroGpus = 1'000'000;  // of a device

// Sets of nodes that must go together.
class Together {
 public:
  explicit Together(std::size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(NodeIndex a, NodeIndex b) {
    const std::size_t first = find(a.value()), second = find(b.value());
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<std::size_t> parent_;  // the first node of a set is its root
};

void join_required_domains(const Problem& problem, Together& together) {
  std::set<TopologyLevelIndex> required;
  for (const Group& group : problem.groups)
    if (!group.required_level.is_none()) required.insert(group.required_level);
  for (const TopologyDomain& domain : problem.topology.domains)
    if (required.contains(domain.level))
      for (const NodeIndex node : domain.nodes) together.join(domain.nodes.front(), node);
}

// Domains of one node each, as by host name, join nothing.
void join_anti_affinity_domains(const Problem& problem, Together& together) {
  for (const AntiAffinity& term : problem.inter_pod.anti_affinities) {
    if (term.domain_count >= problem.nodes.size()) continue;
    std::vector<NodeIndex> first(term.domain_count);
    for (const NodeIndex node : problem.nodes.indices()) {
      const DomainIndex domain = term.domain_of[node];
      if (domain.is_none()) continue;
      if (first[domain.value()].is_none()) first[domain.value()] = node;
      together.join(first[domain.value()], node);
    }
  }
}

std::string label_of(const SnapshotNode& node, std::string_view key) {
  const auto found = std::ranges::find(node.labels, key, [](const auto& label) { return label.first; });
  return found == node.labels.end() ? std::string() : std::string(found->second);
}

// The cells of a label: nodes of one value, with all that must be together with them.
void deal_by_label(const Problem& problem, const std::string& label, Together& together, Dealing& dealing) {
  std::map<std::string, NodeIndex> first;
  for (const NodeIndex node : problem.nodes.indices()) {
    const std::string value = label_of(problem.snapshot->nodes[node.value()], label);
    const auto [found, is_new] = first.try_emplace(value, node);
    together.join(found->second, node);
  }
  std::map<std::size_t, CellIndex> cell_of_root;
  for (const auto& [value, node] : first) {
    const auto [found, is_new] = cell_of_root.try_emplace(together.find(node.value()), CellIndex(dealing.names.size()));
    if (is_new) dealing.names.push_back(value);
  }
  for (const NodeIndex node : problem.nodes.indices())
    dealing.cell_of_node[node] = cell_of_root.at(together.find(node.value()));
}

struct Unit {
  std::tuple<ModelIndex, std::int32_t, Amount, Amount, bool> kind;  // of its first node
  std::vector<NodeIndex> nodes;
  QueueAmounts free{};
};

std::vector<Unit> units_of(const Problem& problem, Together& together) {
  const Indexed<NodeIndex, QueueAmounts> used = used_of_nodes(problem);
  std::vector<Unit> units;
  std::vector<std::size_t> unit_of(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& node_class = problem.class_of(node);
    const std::size_t root = together.find(node.value());
    if (root == node.value()) {
      unit_of[root] = units.size();
      units.push_back({{node_class.model, node_class.device_count, node_class.capacity[kCpu.value()],
                        node_class.capacity[kMemory.value()], node_class.cordoned},
                       {},
                       {}});
    }
    Unit& unit = units[unit_of[root]];
    unit.nodes.push_back(node);
    const QueueAmounts capacity = capacity_of(node_class);
    for (std::size_t r = 0; r < kQueueResources; ++r) unit.free[r] += capacity[r] - used[node][r];
  }
  return units;
}

// Larger units first; each goes to the cell with the fewest nodes of its kind.
void deal_by_kind(const Problem& problem, std::size_t cells, Together& together, Dealing& dealing) {
  std::vector<Unit> units = units_of(problem, together);
  cells = std::max<std::size_t>(1, std::min(cells, units.size()));
  for (std::size_t cell = 0; cell < cells; ++cell) dealing.names.push_back(std::to_string(cell));
  std::ranges::stable_sort(units, [](const Unit& a, const Unit& b) {
    return std::tuple(a.kind, b.nodes.size(), b.free) < std::tuple(b.kind, a.nodes.size(), a.free);
  });
  std::vector<std::size_t> of_kind(cells, 0), all(cells, 0);
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (u > 0 && units[u].kind != units[u - 1].kind) of_kind.assign(cells, 0);
    std::size_t best = 0;
    for (std::size_t cell = 1; cell < cells; ++cell)
      if (std::pair(of_kind[cell], all[cell]) < std::pair(of_kind[best], all[best])) best = cell;
    of_kind[best] += units[u].nodes.size();
    all[best] += units[u].nodes.size();
    for (const NodeIndex node : units[u].nodes) dealing.cell_of_node[node] = CellIndex(best);
  }
}

}  // namespace

QueueAmounts capacity_of(const NodeClass& node_class) {
  return {node_class.device_count * kMicroGpus, node_class.capacity[kCpu.value()],
          node_class.capacity[kMemory.value()]};
}

Indexed<NodeIndex, QueueAmounts> used_of_nodes(const Problem& problem) {
  Indexed<NodeIndex, QueueAmounts> used(problem.nodes.size());
  for (const PodIndex pod : problem.pods.indices()) {
    const NodeIndex node = problem.pods[pod].node;
    if (node.is_none()) continue;
    const QueueAmounts usage = queue_usage(problem.class_of(pod), problem.class_of(node));
    for (std::size_t r = 0; r < kQueueResources; ++r) used[node][r] += usage[r];
  }
  return used;
}

void deal_nodes(const Problem& problem, const DealingOptions& options, Dealing& dealing) {
  dealing.cell_of_node.resize(problem.nodes.size());
  Together together(problem.nodes.size());
  join_required_domains(problem, together);
  join_anti_affinity_domains(problem, together);
  if (options.label.empty())
    deal_by_kind(problem, options.cells, together, dealing);
  else
    deal_by_label(problem, options.label, together, dealing);
  if (dealing.names.empty()) dealing.names.emplace_back("0");  // a cluster without nodes
}

}  // namespace muster::cells
