#include "solver/supply/residual_class.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/tuning.h"
#include "model/problem/exceeded.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/ordered_rules.h"

namespace muster::formulation {
namespace {

// Of each topology the finest level that some group of the demand names: its domains determine those of the others.
std::vector<TopologyLevelIndex> finest_levels(const Problem& problem, const Demand& demand) {
  const Topology& topology = problem.topology;
  std::vector<TopologyLevelIndex> finest;
  const auto refine = [&](TopologyLevelIndex level) {
    const auto covers = [&](TopologyLevelIndex fine) { return topology.covers(level, fine); };
    if (level.is_none() || std::ranges::any_of(finest, covers)) return;
    std::erase_if(finest, [&](TopologyLevelIndex coarse) { return topology.covers(coarse, level); });
    finest.push_back(level);
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
    if (d.stays.is_none() && !d.nominated_node.is_none()) nodes.insert(d.nominated_node);
  return nodes;
}

// The pods that run on each node and may leave: ascending by class of stay, then by pod.
Indexed<NodeIndex, std::vector<PodIndex>> residents_of(const Problem& problem, const Demand& demand) {
  Indexed<NodeIndex, std::vector<PodIndex>> residents(problem.nodes.size());
  for (const RunningCell& cell : demand.running)
    for (PodIndex pod : cell.pods) residents[problem.pods[pod].node].push_back(pod);
  return residents;
}

bool is_shared(const PodClass& pod_class) {
  return pod_class.gpu.kind == GpuRequestKind::kFraction || pod_class.gpu.kind == GpuRequestKind::kMemory;
}

// One node as a residual class: its devices in an order that is the same for equal nodes, and the pods that run there.
class NodeView {
 public:
  NodeView(const Problem& problem, const Demand& demand, const ClusterState& state, NodeIndex node,
           std::vector<PodIndex> residents)
      : problem_(problem), demand_(demand), state_(state), node_(node), residents_(std::move(residents)) {
    for (PodIndex pod : residents_) {
      const PodClass& pod_class = problem.class_of(pod);
      pinned_ = pinned_ || is_shared(pod_class) || is_beyond(pod);
      tied_ = tied_ || (is_shared(pod_class) && pod_class.gpu.devices > 1);
    }
  }

  bool is_pinned() const { return pinned_; }
  // Some pod shares several devices: then the order of the devices is this node's own.
  bool is_tied() const { return tied_; }

  // Positions on the node of devices with free capacity, the least first, then by the pods that run there, lowest first
  // among equals.
  std::vector<std::int32_t> devices() const {
    const auto free = state_.free_devices(node_);
    std::vector<std::vector<DemandIndex>> users(free.size());
    for (PodIndex pod : residents_)
      if (pinned_)
        for (std::int32_t device : problem_.devices_of(pod))
          users[static_cast<std::size_t>(device)].push_back(stay_of(pod));
    std::vector<std::int32_t> positions;
    for (std::size_t i = 0; i < free.size(); ++i)
      if (free[i] > 0) positions.push_back(static_cast<std::int32_t>(i));
    std::stable_sort(positions.begin(), positions.end(), [&](std::int32_t a, std::int32_t b) {
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      return free[i] != free[j] ? free[i] < free[j] : users[i] < users[j];
    });
    return positions;
  }

  // In the order of ResidualClass::residents, which `pods` is put into.
  std::vector<ResidualClass::Resident> residents(const std::vector<std::int32_t>& devices,
                                                 std::vector<PodIndex>& pods) const {
    std::vector<std::pair<ResidualClass::Resident, PodIndex>> all;
    for (PodIndex pod : residents_) {
      ResidualClass::Resident resident{stay_of(pod), {}};
      if (pinned_)
        for (std::int32_t device : problem_.devices_of(pod))
          if (const auto at = std::ranges::find(devices, device); at != devices.end())
            resident.devices.push_back(static_cast<std::int32_t>(at - devices.begin()));
      std::sort(resident.devices.begin(), resident.devices.end());
      all.emplace_back(std::move(resident), pod);
    }
    std::sort(all.begin(), all.end());
    std::vector<ResidualClass::Resident> result;
    pods.clear();
    for (auto& [resident, pod] : all) {
      result.push_back(std::move(resident));
      pods.push_back(pod);
    }
    return result;
  }

 private:
  // On a device that the node does not report: no other pod can use it.
  bool is_beyond(PodIndex pod) const {
    const std::int32_t reported = as_reported(problem_, problem_.class_of(node_)).device_count;
    return std::ranges::any_of(problem_.devices_of(pod), [&](std::int32_t device) { return device >= reported; });
  }
  DemandIndex stay_of(PodIndex pod) const { return demand_.running[demand_.running_cell_of[pod]].stay; }

  const Problem& problem_;
  const Demand& demand_;
  const ClusterState& state_;
  NodeIndex node_;
  std::vector<PodIndex> residents_;
  bool pinned_ = false, tied_ = false;
};

// What a pod that waits asks for at least, in contiguous memory: residual classes times demand classes are many.
struct Asked {
  DemandIndex demand;
  std::int32_t devices = 0;
  Amount cpu = 0, memory = 0;

  // False: it certainly does not fit.
  bool may_fit(const ResidualClass& residual) const {
    return devices <= std::ssize(residual.free_devices) && (cpu <= 0 || cpu <= residual.free[kCpu.value()]) &&
           (memory <= 0 || memory <= residual.free[kMemory.value()]);
  }
};

// Ascending.
std::vector<Asked> asked_of(const Problem& problem, const Demand& demand) {
  std::vector<Asked> asked;
  for (DemandIndex d : demand.classes.indices()) {
    if (!demand.classes[d].stays.is_none() || demand.classes[d].count == 0) continue;
    const PodClass& pod_class = problem.pod_classes[demand.classes[d].pod_class];
    asked.push_back({d, pod_class.gpu.devices, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]});
  }
  return asked;
}

// The demand classes of which one pod fits into the residual class in its current state; first those that run there.
void find_demands(const Problem& problem, const Demand& demand, const std::vector<Asked>& asked,
                  const std::vector<DemandIndex>& refused, ResidualClass& residual) {
  for (const ResidualClass::Resident& resident : residual.residents) {
    if (residual.demands.empty() || residual.demands.back() != resident.stay) {
      residual.demands.push_back(resident.stay);
      residual.stock.push_back(0);
    }
    ++residual.stock.back();
  }
  const NodeResidual empty(problem, residual);
  for (const Asked& one : asked) {
    if (!one.may_fit(residual)) continue;
    const DemandIndex d = one.demand;
    const PodClass& pod_class = problem.pod_classes[demand.classes[d].pod_class];
    if (!pod_class.allowed[residual.node_class.value()] || !empty.has_resources(pod_class)) continue;
    if (std::binary_search(refused.begin(), refused.end(), d)) continue;
    if (!empty.fits(pod_class)) continue;
    residual.demands.push_back(d);
    residual.stock.push_back(demand.classes[d].count);
  }
  for (std::size_t at = 0; at < residual.demands.size(); ++at) {
    const PodClass& pod_class = problem.pod_classes[demand.classes[residual.demands[at]].pod_class];
    const bool is_stay = !demand.classes[residual.demands[at]].stays.is_none();  // running pods fit next to each other
    residual.most.push_back(
        is_stay
            ? residual.stock[at]
            : std::min(residual.stock[at], most_alone(pod_class, problem.node_classes[residual.node_class], residual)));
  }
}

}  // namespace

std::int64_t most_alone(const PodClass& pod_class, const NodeClass& node_class, const ResidualClass& residual) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t r = 0; r < residual.free.size(); ++r)
    if (pod_class.request[r] > 0) most = std::min(most, std::max<Amount>(0, residual.free[r]) / pod_class.request[r]);
  if (pod_class.gpu.devices == 0) return most;
  const DeviceUnits units = share_units(pod_class, node_class);
  std::int64_t shares = 0, on_one = 0;
  DeviceUnits known = 0;
  for (const DeviceUnits free : residual.free_devices) {
    if (free != known) on_one = free / units;
    known = free;
    shares += on_one;
  }
  return std::min(most, shares / pod_class.gpu.devices);
}

bool is_metered(const Problem& problem, const Demand& demand, const Cell& cell) {
  const PodClass& pod_class = problem.pod_classes[demand.classes[cell.demand].pod_class];
  if (pod_class.gpu.kind != GpuRequestKind::kMemory) return false;
  if (!demand.running.empty() && problem.snapshot->policy.actions.reclaim) return true;  // fair shares bound it
  const std::vector<QueueIndex>& above = problem.queues[demand.gang_classes[cell.gang_class].queue].ancestors;
  return std::any_of(above.begin(), above.end(), [&](QueueIndex queue) {
    return problem.queues[queue].quota[kQueueGpu] != kUnlimited || problem.queues[queue].limit[kQueueGpu] != kUnlimited;
  });
}

PlacementZones collect_placement_zones(const Problem& problem, const Demand& demand) {
  PlacementZones zones;
  const std::vector<TopologyLevelIndex> finest = finest_levels(problem, demand);
  const bool by_size = std::any_of(demand.cells.begin(), demand.cells.end(),
                                   [&](const Cell& cell) { return is_metered(problem, demand, cell); });
  zones.of_node.assign(problem.nodes.size(), ZoneIndex(0));
  std::map<std::tuple<std::vector<DomainIndex>, std::int64_t, std::vector<bool>>, ZoneIndex> index;
  for (NodeIndex node : problem.nodes.indices()) {
    std::vector<DomainIndex> domains;
    for (const TopologyLevelIndex level : finest) domains.push_back(problem.nodes[node].domains[level.value()]);
    const std::int64_t size = by_size ? problem.class_of(node).device_memory_mib : 0;
    std::vector<bool> counted;
    for (const std::vector<bool>& part : demand.counted_parts)
      counted.push_back(part[problem.nodes[node].node_class.value()]);
    const auto [found, is_new] =
        index.try_emplace({std::move(domains), size, std::move(counted)}, ZoneIndex(zones.domains.size()));
    if (is_new) zones.nodes.push_back(node);
    if (is_new)
      zones.domains.push_back(finest.empty()
                                  ? std::vector<DomainIndex>(problem.topology.levels.size(), DomainIndex::none())
                                  : problem.nodes[node].domains);
    zones.of_node[node] = found->second;
  }
  if (zones.domains.empty()) zones.domains.emplace_back(problem.topology.levels.size(), DomainIndex::none());
  return zones;
}

namespace {

// Numbers the parts in order of their first nodes.
class Parts {
 public:
  Parts(const Problem& problem, const OrderedRules& ordered, Indexed<PartIndex, SupplyPart>& parts)
      : problem_(problem), ordered_(ordered), parts_(parts) {}

  PartIndex of(NodeIndex node, ZoneIndex zone) {
    if (ordered_.empty()) return PartIndex::none();
    const auto [found, is_new] =
        index_.try_emplace({zone, ordered_.domains_of(problem_, node)}, PartIndex(parts_.size()));
    if (is_new) parts_.push_back({zone, node});
    return found->second;
  }

 private:
  const Problem& problem_;
  const OrderedRules& ordered_;
  Indexed<PartIndex, SupplyPart>& parts_;
  std::map<std::pair<ZoneIndex, std::vector<DomainIndex>>, PartIndex> index_;
};

// Requires that `ordered` is empty or that its parts may be many: stops, with too many residual classes, if they are.
Supply collect_residual_classes(const Problem& problem, const Demand& demand, const PlacementZones& zones,
                                const ClusterState& state, const OrderedRules& ordered, const Deadline* deadline) {
  Supply supply;
  supply.zone_count = zones.domains.size();
  AntiAffinityRules rules(problem, state);
  const std::vector<DemandIndex> spreading = rules.demands_with_terms(demand);
  using Key = std::tuple<NodeClassIndex, ZoneIndex, std::vector<Amount>, std::vector<DeviceUnits>,
                         std::vector<ResidualClass::Resident>, std::vector<DemandIndex>, NodeIndex, PartIndex>;
  std::map<Key, ResidualClassIndex> index;
  Parts parts(problem, ordered, supply.parts);
  Indexed<ResidualClassIndex, std::vector<DemandIndex>> refused;
  const std::set<NodeIndex> nominated = nominated_nodes(demand);
  supply.residents = residents_of(problem, demand);
  supply.devices = Indexed<NodeIndex, std::vector<std::int32_t>>(problem.nodes.size());
  supply.residual_of.assign(problem.nodes.size(), ResidualClassIndex::none());
  for (NodeIndex node : problem.nodes.indices()) {
    std::vector<PodIndex>& pods = supply.residents[node];
    if (problem.class_of(node).cordoned && pods.empty()) continue;
    const NodeView view(problem, demand, state, node, pods);
    ResidualClass residual;
    residual.node_class = problem.nodes[node].node_class;
    residual.zone = zones.of_node[node];
    residual.part = parts.of(node, residual.zone);
    residual.free.assign(state.free(node).begin(), state.free(node).end());
    supply.devices[node] = view.devices();
    for (std::int32_t device : supply.devices[node])
      residual.free_devices.push_back(state.free_devices(node)[static_cast<std::size_t>(device)]);
    residual.residents = view.residents(supply.devices[node], pods);
    residual.pinned = view.is_pinned();
    std::vector<DemandIndex> refused_here;
    for (DemandIndex d : spreading)
      if (rules.excludes(demand.classes[d].pod_class, node)) refused_here.push_back(d);
    // Nodes in different domains of an anti-affinity term that spans nodes must stay apart.
    const NodeIndex own = nominated.contains(node) || rules.spans_nodes() || view.is_tied() ? node : NodeIndex::none();
    const auto [found, is_new] =
        index.try_emplace(Key{residual.node_class, residual.zone, residual.free, residual.free_devices,
                              residual.residents, refused_here, own, residual.part},
                          ResidualClassIndex(supply.residuals.size()));
    if (is_new) {
      supply.residuals.push_back(std::move(residual));
      refused.push_back(std::move(refused_here));
    }
    supply.residuals[found->second].nodes.push_back(node);
    supply.residual_of[node] = found->second;
    if (!ordered.empty() && supply.residuals.size() > kTuning.size.many_kinds) return supply;
  }
  const std::vector<Asked> asked = asked_of(problem, demand);
  for (ResidualClassIndex residual : supply.residuals.indices()) {
    supply.is_complete = deadline == nullptr || !deadline->passed();
    if (!supply.is_complete) break;
    find_demands(problem, demand, asked, refused[residual], supply.residuals[residual]);
  }
  return supply;
}

}  // namespace

Supply collect_supply(const Problem& problem, const Demand& demand, const PlacementZones& zones,
                      const ClusterState& state, const Deadline* deadline) {
  if (const OrderedRules ordered(problem, demand); !ordered.empty()) {
    Supply supply = collect_residual_classes(problem, demand, zones, state, ordered, deadline);
    const auto columns =
        supply.parts.size() * static_cast<std::size_t>(std::ranges::count_if(demand.classes, [&](const DemandClass& d) {
          return ordered.concern(problem.pod_classes[d.pod_class]);
        }));
    if (supply.residuals.size() <= kTuning.size.many_kinds && columns <= kTuning.listing.most_columns) return supply;
  }
  return collect_residual_classes(problem, demand, zones, state, {}, deadline);
}

NodeResidual::NodeResidual(const Problem& problem, const ResidualClass& residual)
    : problem_(&problem),
      node_class_(&problem.node_classes[residual.node_class]),
      device_capacity_((node_class_->device_memory_mib == 0 ? 1 : node_class_->device_memory_mib) * 1'000'000),
      free_(residual.free),
      free_devices_(residual.free_devices) {}

bool NodeResidual::has_resources(const PodClass& pod_class) const {
  for (std::size_t r = 0; r < free_.size(); ++r)
    if (pod_class.request[r] > 0 && pod_class.request[r] > free_[r]) return false;
  return true;
}

DeviceUnits NodeResidual::units_of(const PodClass& pod_class) const {
  return pod_class.gpu.kind == GpuRequestKind::kWhole ? device_capacity_ : share_units(pod_class, *node_class_);
}

bool NodeResidual::fits(const PodClass& pod_class) const {
  if (!has_resources(pod_class)) return false;
  if (pod_class.gpu.kind == GpuRequestKind::kNone) return true;
  if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class_->device_memory_mib == 0) return false;
  const DeviceUnits units = units_of(pod_class);
  return std::ranges::count_if(free_devices_, [&](DeviceUnits free) { return free >= units; }) >= pod_class.gpu.devices;
}

bool NodeResidual::add(const PodClass& pod_class) {
  last_devices_.clear();
  if (!has_resources(pod_class)) return false;
  const GpuRequest& gpu = pod_class.gpu;
  if (gpu.kind == GpuRequestKind::kMemory && node_class_->device_memory_mib == 0) return false;
  if (gpu.kind != GpuRequestKind::kNone) {
    const DeviceUnits units = units_of(pod_class);
    // The fullest devices that still have room, lowest position first among equals.
    fitting_.clear();
    for (std::size_t i = 0; i < free_devices_.size(); ++i)
      if (free_devices_[i] >= units) fitting_.emplace_back(free_devices_[i], static_cast<std::int32_t>(i));
    const auto wanted = static_cast<std::size_t>(gpu.devices);
    if (fitting_.size() < wanted) return false;
    std::partial_sort(fitting_.begin(), fitting_.begin() + static_cast<std::ptrdiff_t>(wanted), fitting_.end());
    for (std::size_t i = 0; i < wanted; ++i) {
      last_devices_.push_back(fitting_[i].second);
      free_devices_[static_cast<std::size_t>(fitting_[i].second)] -= units;
    }
    std::sort(last_devices_.begin(), last_devices_.end());
  }
  for (std::size_t r = 0; r < free_.size(); ++r) free_[r] -= pod_class.request[r];
  return true;
}

void NodeResidual::add_on(const PodClass& pod_class, const std::vector<std::int32_t>& devices) {
  for (std::size_t r = 0; r < free_.size(); ++r) free_[r] -= pod_class.request[r];
  const DeviceUnits units = devices.empty() ? 0 : share_units(pod_class, *node_class_);
  for (std::int32_t device : devices) free_devices_[static_cast<std::size_t>(device)] -= units;
  last_devices_ = devices;
}

void NodeResidual::remove_from(const PodClass& pod_class, const std::vector<std::int32_t>& devices) {
  for (std::size_t r = 0; r < free_.size(); ++r) free_[r] += pod_class.request[r];
  const DeviceUnits units = devices.empty() ? 0 : share_units(pod_class, *node_class_);
  for (std::int32_t device : devices) free_devices_[static_cast<std::size_t>(device)] += units;
}

}  // namespace muster::formulation
