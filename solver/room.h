// Nodes with equal room, and what may be put into one of them: the supply side of the formulation.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/cluster_state.h"
#include "model/problem.h"
#include "solver/demand.h"

namespace muster {

using RoomClassIndex = Index<struct RoomClassTag>;
using AtomIndex = Index<struct AtomTag>;
using PartIndex = Index<struct PartTag>;

// More room classes than that are never listed, nor given to CBC with columns for all nodes.
inline constexpr std::size_t kManyRooms = 300;
// Integer columns of a model that may be given to CBC whole, beside those of gangs and cells.
inline constexpr std::size_t kMostNodeColumns = 10'000;

// RoomClass classes are nodes alike in all that a configuration can see: static class, what is free, anti-affinity with
// what runs, and the atom and the part that they lie in.
struct RoomClass {
  std::vector<NodeIndex> nodes;  // ascending
  NodeClassIndex node_class;
  AtomIndex atom;
  PartIndex part;                         // none: there are none
  std::vector<Amount> free;               // by ResourceIndex; what may leave is not counted as there
  std::vector<DeviceUnits> free_devices;  // ascending; fully taken ones are left out
  std::vector<DemandIndex> demands;       // that fit by themselves, ascending
  std::vector<std::int64_t> stock;        // by position in `demands`: pods that there are of it for one node
  // By position in `demands`: pods that one node could take if it took nothing else, at most; by what it has of each
  // resource, by its devices, and by the stock. Anti-affinity is not looked at.
  std::vector<std::int64_t> most;
  // Who runs on each of the nodes and may leave, ascending by class, with the devices (positions in free_devices) that
  // it is on. These are told only where a resident shares a device (`pinned`): else the residents are on whole devices,
  // and any device of theirs is as good as another until decoding chooses one.
  struct Resident {
    DemandIndex stay;
    std::vector<std::int32_t> devices;
    friend auto operator<=>(const Resident&, const Resident&) = default;
  };
  std::vector<Resident> residents;
  bool pinned = false;
  std::int64_t count() const { return static_cast<std::int64_t>(nodes.size()); }
};

// Nodes of one atom that lie in the same domains of all rules of affinity and spread that matter.
struct SupplyPart {
  AtomIndex atom;
  NodeIndex node;  // one of them
};

struct Supply {
  Indexed<RoomClassIndex, RoomClass> rooms;
  Indexed<PartIndex, SupplyPart> parts;  // none where no such rule matters, or where rooms would be too many
  std::size_t atom_count = 1;
  Indexed<NodeIndex, RoomClassIndex> room_of;             // none: not there
  Indexed<NodeIndex, std::vector<std::int32_t>> devices;  // positions in free_devices -> positions on the node
  Indexed<NodeIndex, std::vector<PodIndex>> residents;    // in the order of RoomClass::residents
};

// Atoms are the parts of the cluster that some gang of the demand has to tell apart: the domains of the finest topology
// level that is asked for, sizes of devices where is_metered, and Demand::counted_parts; by NodeIndex. One atom where
// nothing is. `atom_domains[atom][level]` is its domain.
struct Atoms {
  Indexed<NodeIndex, AtomIndex> of_node;
  std::vector<std::vector<DomainIndex>> domains;  // by atom, by level
  std::vector<NodeIndex> nodes;                   // by atom: one of its nodes
};
Atoms collect_atoms(const Problem& problem, const Demand& demand);
// Whether the usage of the cell's pods depends on the device that they land on, and some queue above bounds it: then
// atoms tell the sizes of devices apart, too.
bool is_metered(const Problem& problem, const Demand& demand, const Cell& cell);

// Groups the nodes of `state` (what stays for good is in it, what is releasing or may leave is not). Keeps apart the
// parts of the cluster that affinity and spread tell apart, unless that makes more than kManyRooms, or more than
// kMostNodeColumns pairs of a part and a demand class. Cost: O(nodes x (resources + devices + rules) + room classes x
// demand classes). Nodes that are `reserved` are left out, and cordoned ones
// that nobody may leave.
Supply collect_supply(const Problem& problem, const Demand& demand, const Atoms& atoms, const ClusterState& state,
                      const std::vector<bool>& reserved);

// The room of one node while a configuration is put together: exact amounts, devices by position.
class NodeRoom {
 public:
  NodeRoom(const Problem& problem, const RoomClass& room);

  // Whether one pod of the class fits.
  bool fits(const PodClass& pod_class) const;
  // Puts one pod of the class in; sharers go to the fullest devices that still take them. False: no room, nothing
  // changed.
  bool add(const PodClass& pod_class);
  // The same of one who runs there and stays, of whose resources only devices are looked at: what runs there may exceed
  // what the node reports.
  bool add_staying(const PodClass& pod_class);
  // The devices (positions in RoomClass::free_devices) that the last add took.
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

}  // namespace muster
