// Nodes by what the slot model distinguishes: nodes alike in what may leave them, and shared devices alike in who does.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/lp/fillings.h"
#include "solver/slots/pod_kinds.h"

namespace muster::slots {

using GroupIndex = Index<struct SlotGroupTag>;
using ResidentIndex = Index<struct ResidentTag>;
using DeviceTypeIndex = Index<struct DeviceTypeTag>;

// Nodes that the same filters accept, with devices of one size.
struct NodeGroup {
  std::vector<bool> accepted;  // by FilterIndex
  std::int64_t device_memory_mib = 0;
  std::vector<bool> nodes;  // by NodeIndex
  // Partly free ones without residents, by what is free.
  std::map<DeviceUnits, std::vector<std::pair<NodeIndex, std::int32_t>>> devices;
  std::vector<std::int64_t> room;  // by position of a whole size, of nodes that nothing leaves
  std::int64_t idle = 0;           // devices, if all leave
};

// Pods of `kept` that are the same to the model.
struct Resident {
  KindIndex kind;
  Work cost = 0;
  KeptIndex partial;  // of which not all pods remain; none: all do, or they are the same as those of others
  friend auto operator<=>(const Resident&, const Resident&) = default;
};
using Residents = std::vector<std::pair<ResidentIndex, std::int32_t>>;  // ascending

// A device that residents share.
struct DeviceType {
  GroupIndex group;
  DeviceUnits free = 0;    // without them
  bool may_clear = false;  // it is idle without them
  Residents residents;
  std::vector<std::pair<NodeIndex, std::int32_t>> devices;
  friend bool operator<(const DeviceType& a, const DeviceType& b) {
    return std::tie(a.group, a.free, a.may_clear, a.residents) < std::tie(b.group, b.free, b.may_clear, b.residents);
  }
};

// A way in which pods leave a node: whole users, and the users of shared devices that become idle.
struct NodeOption {
  Residents off;
  std::vector<std::pair<DeviceTypeIndex, std::int32_t>> cleared;
  std::vector<std::int64_t> room;  // by position of a whole size: devices for pods of this size and larger ones
  friend auto operator<=>(const NodeOption&, const NodeOption&) = default;
};

struct NodeType {
  GroupIndex group;
  std::vector<NodeOption> options;
  std::vector<NodeIndex> nodes;
};

// What the pods of one node request counts as at least: rounded how?
enum class Rounding : std::uint8_t { kLeast, kMean };  // the least of its size: a bound; the mean: more likely to fit

class Supply {
 public:
  // Both outlive the object. Throws lp::ModelTooLong once the clock has passed `time`. Cost: O(nodes x residents + node
  // types x options^2).
  Supply(const SlotTask& task, const PodKinds& kinds, Rounding rounding, const Deadline& time);

  const Indexed<GroupIndex, NodeGroup>& groups() const { return groups_; }
  const Indexed<ResidentIndex, Resident>& residents() const { return residents_; }
  const Indexed<DeviceTypeIndex, DeviceType>& device_types() const { return device_types_; }
  const std::vector<NodeType>& node_types() const { return node_types_; }
  // Descending; with 1 if there are shares.
  const std::vector<lp::WholeSize>& whole_sizes() const { return whole_sizes_; }
  // Whether all ways to leave that can be worth while are options.
  bool is_complete() const { return is_complete_; }
  // None: the pod is not modelled, it stays.
  ResidentIndex resident_of(PodIndex pod) const { return resident_of_[pod]; }

 private:
  struct Content;
  struct Weight {  // of an option
    Work cost = 0;
    std::vector<std::int64_t> room;
    std::map<KindIndex, std::int64_t> elsewhere;  // pods that may be dealt to other groups, and sharers
    std::map<KeptIndex, std::int64_t> partial;
  };
  void find_whole_sizes();
  void number_residents();
  GroupIndex group_of(NodeIndex node);
  std::vector<PodIndex> kept_on(NodeIndex node);
  Content content_of(NodeIndex node);
  std::vector<std::vector<Amount>> least_requests(const std::vector<PodIndex>& pods) const;
  std::vector<std::int64_t> room_of(std::int64_t idle, const std::vector<Amount>& free) const;
  std::vector<NodeOption> list_options(const Content& content);
  std::vector<NodeOption> options_of(const Content& content);
  void merge_types();
  Weight weight_of(const NodeOption& option, GroupIndex group) const;
  static bool is_dominated(const Weight& one, const Weight& other);  // by the other

  const SlotTask& task_;
  const PodKinds& kinds_;
  Rounding rounding_;
  Indexed<NodeIndex, std::vector<PodIndex>> kept_on_;
  std::vector<lp::WholeSize> whole_sizes_;
  std::vector<double> densities_;  // by resource: the most that a pod requests for a device
  Indexed<ResidentIndex, Resident> residents_;
  Indexed<PodIndex, ResidentIndex> resident_of_;
  Indexed<GroupIndex, NodeGroup> groups_;
  Indexed<NodeIndex, GroupIndex> group_of_;
  Indexed<KindIndex, std::int64_t> group_count_;
  Indexed<DeviceTypeIndex, DeviceType> device_types_;
  std::map<DeviceType, DeviceTypeIndex> device_type_numbers_;
  std::vector<NodeType> node_types_;
  bool is_complete_ = true;
};

}  // namespace muster::slots
