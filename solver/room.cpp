#include "solver/room.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "solver/anti_affinity.h"

namespace muster {
namespace {

// The finest level that some group of the demand names, or none.
TopologyLevelIndex finest_level(const Problem& problem, const Demand& demand) {
  TopologyLevelIndex finest = TopologyLevelIndex::none();
  const auto refine = [&](TopologyLevelIndex level) {
    if (!level.is_none() && (finest.is_none() || level > finest)) finest = level;
  };
  for (const GangClass& gang_class : demand.gang_classes)
    for (GroupIndex group : problem.gangs[gang_class.gangs[0]].groups) {
      refine(problem.groups[group].required_level);
      refine(problem.groups[group].preferred_level);
    }
  return finest;
}

std::set<NodeIndex> nominated_nodes(const Demand& demand) {
  std::set<NodeIndex> nodes;
  for (const DemandClass& d : demand.classes)
    if (!d.nominated_node.is_none()) nodes.insert(d.nominated_node);
  return nodes;
}

// The demand classes of which one pod fits into the room as it is.
void find_demands(const Problem& problem, const Demand& demand, const std::vector<DemandIndex>& refused,
                  RoomClass& room) {
  const NodeRoom empty(problem, room);
  for (DemandIndex d : demand.classes.indices()) {
    const PodClass& pod_class = problem.pod_classes[demand.classes[d].pod_class];
    if (demand.classes[d].count == 0 || !pod_class.allowed[room.node_class.value()]) continue;
    if (std::binary_search(refused.begin(), refused.end(), d) || !empty.has_resources(pod_class)) continue;
    NodeRoom space = empty;
    if (space.add(pod_class)) room.demands.push_back(d);
  }
}

}  // namespace

bool is_metered(const Problem& problem, const Demand& demand, const Cell& cell) {
  const PodClass& pod_class = problem.pod_classes[demand.classes[cell.demand].pod_class];
  if (pod_class.gpu.kind != GpuRequestKind::kMemory) return false;
  const std::vector<QueueIndex>& above = problem.queues[demand.gang_classes[cell.gang_class].queue].ancestors;
  return std::any_of(above.begin(), above.end(), [&](QueueIndex queue) {
    return problem.queues[queue].quota[kQueueGpu] != kUnlimited || problem.queues[queue].limit[kQueueGpu] != kUnlimited;
  });
}

Atoms collect_atoms(const Problem& problem, const Demand& demand) {
  Atoms atoms;
  const TopologyLevelIndex finest = finest_level(problem, demand);
  const bool by_size = std::any_of(demand.cells.begin(), demand.cells.end(),
                                   [&](const Cell& cell) { return is_metered(problem, demand, cell); });
  atoms.of_node.assign(problem.nodes.size(), AtomIndex(0));
  std::map<std::pair<DomainIndex, std::int64_t>, AtomIndex> index;
  for (NodeIndex node : problem.nodes.indices()) {
    const DomainIndex domain = finest.is_none() ? DomainIndex::none() : problem.nodes[node].domains[finest.value()];
    const std::int64_t size = by_size ? problem.class_of(node).device_memory_mib : 0;
    const auto [found, is_new] = index.try_emplace({domain, size}, AtomIndex(atoms.domains.size()));
    if (is_new)
      atoms.domains.push_back(finest.is_none()
                                  ? std::vector<DomainIndex>(problem.topology_levels.size(), DomainIndex::none())
                                  : problem.nodes[node].domains);
    atoms.of_node[node] = found->second;
  }
  if (atoms.domains.empty()) atoms.domains.emplace_back(problem.topology_levels.size(), DomainIndex::none());
  return atoms;
}

Supply collect_supply(const Problem& problem, const Demand& demand, const Atoms& atoms, const ClusterState& state,
                      const std::vector<bool>& reserved) {
  Supply supply;
  supply.atom_count = atoms.domains.size();
  const AntiAffinityRules rules(problem, state);
  const std::vector<DemandIndex> spreading = rules.demands_with_terms(demand);
  using Key = std::tuple<NodeClassIndex, AtomIndex, std::vector<Amount>, std::vector<DeviceUnits>,
                         std::vector<DemandIndex>, NodeIndex>;
  std::map<Key, RoomClassIndex> index;
  Indexed<RoomClassIndex, std::vector<DemandIndex>> refused;
  const std::set<NodeIndex> nominated = nominated_nodes(demand);
  for (NodeIndex node : problem.nodes.indices()) {
    if (problem.class_of(node).cordoned || reserved[node.value()]) continue;
    RoomClass room;
    room.node_class = problem.nodes[node].node_class;
    room.atom = atoms.of_node[node];
    room.free.assign(state.free(node).begin(), state.free(node).end());
    for (DeviceUnits units : state.free_devices(node))
      if (units > 0) room.free_devices.push_back(units);
    std::sort(room.free_devices.begin(), room.free_devices.end());
    std::vector<DemandIndex> refused_here;
    for (DemandIndex d : spreading)
      if (rules.excludes(demand.classes[d].pod_class, node)) refused_here.push_back(d);
    // Nodes in different domains of an anti-affinity term that spans nodes must stay apart.
    const NodeIndex own = nominated.contains(node) || rules.spans_nodes() ? node : NodeIndex::none();
    const auto [found, is_new] =
        index.try_emplace(Key{room.node_class, room.atom, room.free, room.free_devices, refused_here, own},
                          RoomClassIndex(supply.rooms.size()));
    if (is_new) {
      supply.rooms.push_back(std::move(room));
      refused.push_back(std::move(refused_here));
    }
    supply.rooms[found->second].nodes.push_back(node);
  }
  for (RoomClassIndex room : supply.rooms.indices()) find_demands(problem, demand, refused[room], supply.rooms[room]);
  return supply;
}

NodeRoom::NodeRoom(const Problem& problem, const RoomClass& room)
    : problem_(&problem),
      node_class_(&problem.node_classes[room.node_class]),
      device_capacity_((node_class_->device_memory_mib == 0 ? 1 : node_class_->device_memory_mib) * 1'000'000),
      free_(room.free),
      free_devices_(room.free_devices) {}

bool NodeRoom::has_resources(const PodClass& pod_class) const {
  for (std::size_t r = 0; r < free_.size(); ++r)
    if (pod_class.request[r] > free_[r]) return false;
  return true;
}

bool NodeRoom::add(const PodClass& pod_class) {
  last_devices_.clear();
  if (!has_resources(pod_class)) return false;
  const GpuRequest& gpu = pod_class.gpu;
  if (gpu.kind == GpuRequestKind::kMemory && node_class_->device_memory_mib == 0) return false;
  if (gpu.kind != GpuRequestKind::kNone) {
    const bool whole = gpu.kind == GpuRequestKind::kWhole;
    const DeviceUnits units = whole ? device_capacity_ : share_units(pod_class, *node_class_);
    // The fullest devices that still have room, lowest position first among equals.
    std::vector<std::pair<DeviceUnits, std::int32_t>> fitting;
    for (std::size_t i = 0; i < free_devices_.size(); ++i)
      if (free_devices_[i] >= units) fitting.emplace_back(free_devices_[i], static_cast<std::int32_t>(i));
    const auto wanted = static_cast<std::size_t>(gpu.devices);
    if (fitting.size() < wanted) return false;
    std::partial_sort(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(wanted), fitting.end());
    for (std::size_t i = 0; i < wanted; ++i) last_devices_.push_back(fitting[i].second);
    std::sort(last_devices_.begin(), last_devices_.end());
  }
  add_on(pod_class, std::vector<std::int32_t>(last_devices_));
  return true;
}

void NodeRoom::add_on(const PodClass& pod_class, const std::vector<std::int32_t>& devices) {
  for (std::size_t r = 0; r < free_.size(); ++r) free_[r] -= pod_class.request[r];
  const DeviceUnits units = devices.empty() ? 0 : share_units(pod_class, *node_class_);
  for (std::int32_t device : devices) free_devices_[static_cast<std::size_t>(device)] -= units;
  last_devices_ = devices;
}

void NodeRoom::remove_from(const PodClass& pod_class, const std::vector<std::int32_t>& devices) {
  for (std::size_t r = 0; r < free_.size(); ++r) free_[r] += pod_class.request[r];
  const DeviceUnits units = devices.empty() ? 0 : share_units(pod_class, *node_class_);
  for (std::int32_t device : devices) free_devices_[static_cast<std::size_t>(device)] += units;
}

}  // namespace muster
