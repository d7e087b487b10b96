// Nodes with equal residual capacity, and what may be put into one of them: the supply side of the formulation.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/budget/deadline.h"
#include "solver/demand/demand.h"

namespace muster::formulation {

using ResidualClassIndex = Index<struct ResidualClassTag>;
using ZoneIndex = Index<struct ZoneTag>;
using PartIndex = Index<struct PartTag>;

// ResidualClass classes are nodes alike in all that a configuration can see: static class, what is free, anti-affinity
// with what runs, and the zone and the part that they lie in.
struct ResidualClass {
  std::vector<NodeIndex> nodes;  // ascending
  NodeClassIndex node_class;
  ZoneIndex zone;
  PartIndex part;                         // none: there are none
  std::vector<Amount> free;               // by ResourceIndex; what may leave is not counted as there
  std::vector<DeviceUnits> free_devices;  // ascending; fully taken ones are left out
  std::vector<DemandIndex> demands;       // that fit by themselves, ascending
  std::vector<std::int64_t> stock;        // by position in `demands`: number of its pods available for one node
  // By position in `demands`: pods that one node could take if it took nothing else, at most; by what it has of each
  // resource, by its devices, and by the stock. Anti-affinity is not examined.
  std::vector<std::int64_t> most;
  // The pods that run on each of the nodes and may leave, ascending by class, with their devices (positions in
  // free_devices). The devices are given only if a resident shares a device (`pinned`): else the residents are on whole
  // devices, which are interchangeable until decoding chooses among them.
  struct Resident {
    DemandIndex stay;
    std::vector<std::int32_t> devices;
    friend auto operator<=>(const Resident&, const Resident&) = default;
  };
  std::vector<Resident> residents;
  bool pinned = false;
  std::int64_t count() const { return static_cast<std::int64_t>(nodes.size()); }
};

// Pods of the class that one node of the residual class could take, if it took nothing else; by its resources and
// devices alone.
std::int64_t most_alone(const PodClass& pod_class, const NodeClass& node_class, const ResidualClass& residual);

// Nodes of one zone that lie in the same domains of all relevant rules of affinity and spread.
struct SupplyPart {
  ZoneIndex zone;
  NodeIndex node;  // one of them
};

struct Supply {
  Indexed<ResidualClassIndex, ResidualClass> residuals;
  Indexed<PartIndex, SupplyPart>
      parts;  // none if no such rule is relevant, or if there would be too many residual classes
  std::size_t zone_count = 1;
  Indexed<NodeIndex, ResidualClassIndex> residual_of;     // none: not there
  Indexed<NodeIndex, std::vector<std::int32_t>> devices;  // positions in free_devices -> positions on the node
  Indexed<NodeIndex, std::vector<PodIndex>> residents;    // in the order of ResidualClass::residents
  bool is_complete = true;  // false: the time ended before all residual classes had their demands
};

// PlacementZones (placement zones) are the coarsest parts of the cluster that the demand's constraints distinguish: the
// domains of the finest level of each topology that is asked for, sizes of devices if is_metered, and
// Demand::counted_parts; by NodeIndex. One zone if there are none of these. `domains[zone][level]` is its domain.
struct PlacementZones {
  Indexed<NodeIndex, ZoneIndex> of_node;
  std::vector<std::vector<DomainIndex>> domains;  // by zone, by level
  std::vector<NodeIndex> nodes;                   // by zone: one of its nodes
};
PlacementZones collect_placement_zones(const Problem& problem, const Demand& demand);
// Whether the usage of the cell's pods depends on their device, and some queue above bounds it: then zones distinguish
// the sizes of devices, too.
bool is_metered(const Problem& problem, const Demand& demand, const Cell& cell);

// Groups the nodes of `state` (pods that stay for good are in it; releasing ones and those that may leave are not).
// Separates the parts of the cluster that affinity and spread distinguish, unless that makes more than
// SizeTuning::many_kinds, or more than ListingTuning::most_node_columns pairs of a part and a demand class. Cordoned
// nodes that no pod may leave are left out. Cost: O(nodes x (resources + devices + rules) +
// residual classes x demand classes); it ends at the deadline, if there is one.
Supply collect_supply(const Problem& problem, const Demand& demand, const PlacementZones& zones,
                      const ClusterState& state, const Deadline* deadline = nullptr);

// The free capacity of one node while a configuration is built: exact amounts, devices by position.
class NodeResidual {
 public:
  NodeResidual(const Problem& problem, const ResidualClass& residual);

  // Whether one pod of the class fits.
  bool fits(const PodClass& pod_class) const;
  // Adds one pod of the class; sharers use the fullest devices that still have room for them. False: no room, nothing
  // changed.
  bool add(const PodClass& pod_class);
  // The devices (positions in ResidualClass::free_devices) that the last add took.
  const std::vector<std::int32_t>& last_devices() const { return last_devices_; }
  const std::vector<Amount>& free() const { return free_; }
  const std::vector<DeviceUnits>& free_devices() const { return free_devices_; }
  // Puts one pod in on these devices; requires that it fits there.
  void add_on(const PodClass& pod_class, const std::vector<std::int32_t>& devices);
  void remove_from(const PodClass& pod_class, const std::vector<std::int32_t>& devices);
  bool has_resources(const PodClass& pod_class) const;

 private:
  const Problem* problem_;
  const NodeClass* node_class_;
  DeviceUnits device_capacity_;
  std::vector<Amount> free_;
  std::vector<DeviceUnits> free_devices_;
  DeviceUnits units_of(const PodClass& pod_class) const;  // on each device that it takes; requires that it takes one

  std::vector<std::int32_t> last_devices_;
  std::vector<std::pair<DeviceUnits, std::int32_t>> fitting_;  // scratch
};

}  // namespace muster::formulation
