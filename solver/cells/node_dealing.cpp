#include "solver/cells/node_dealing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace muster::cells {
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
