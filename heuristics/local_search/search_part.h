// One part of a round of the search: some nodes, the gangs on them, and what waits for a place there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/trial.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/device_sets.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// The nodes of one part of the search: what is free on them, and the pods on them that may move.
//
// What is free on a node.
struct NodeContents {
  std::vector<Amount> free;
  std::vector<DeviceUnits> devices;

  Room room() const { return {free, devices}; }
  // A pod of the class comes to the devices, or leaves them. `node`: the one that this is of.
  void put(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& on) {
    add(problem, node, pod_class, on, -1);
  }
  void take(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& from) {
    add(problem, node, pod_class, from, +1);
  }

 private:
  void add(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& on, std::int64_t sign);
};

struct PartNode {
  struct Occupant {
    PodIndex pod;
    DeviceList devices;
  };
  NodeIndex node;
  NodeContents contents;
  std::vector<Occupant> pods;   // those that may move
  std::int64_t idle = 0;        // thousandths of its devices
  std::int64_t last_level = 0;  // its part of the last level
  std::int32_t breaking = 0;    // pods that keep the node from being whole
};

class PartNodes {
 public:
  // As they are in the state. `scope` must outlive it. Cost: O(pods on the nodes).
  PartNodes(const SearchScope& scope, const ClusterState& state, const std::vector<NodeIndex>& nodes);

  std::size_t size() const { return nodes_.size(); }
  const PartNode& operator[](std::size_t position) const { return nodes_[position]; }
  const std::vector<std::size_t>& with_idle_devices() const { return with_idle_devices_; }  // positions, ascending

  // The node is now as a trial leaves it. Call list_idle() after the last node of the trial. Cost: O(pods on the node x
  // pods of the trial).
  void change(std::size_t position, const NodeContents& contents, const Trial& trial, std::int32_t breaking_change);
  void list_idle();

 private:
  void add(const ClusterState& state, NodeIndex node);
  void value(PartNode& node) const;

  const SearchScope& scope_;
  const Problem& problem_;
  std::vector<PartNode> nodes_;
  std::vector<std::size_t> with_idle_devices_;
};

// One part of a round of the search: some nodes, and what waits for a place on them.
struct SearchPart {
  std::vector<NodeIndex> nodes;
  std::vector<PodIndex> waiting_pods;    // each of which may be placed by itself
  std::vector<GangIndex> waiting_gangs;  // whose minimum may be placed as a whole
  std::uint32_t number = 0, of = 1;      // this one, and how many there are: gangs that could lose pods belong to one
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  bool counts_usable = true;  // whether plans equal in all levels are distinguished, which takes longer
};

// The gangs of one part of the search: those that wait as a whole, those that lie in the part as a whole, and how many
// pods the others can spare.
class PartGangs {
 public:
  // `state` does not change meanwhile; all must outlive it. Cost: O(pods on the nodes).
  PartGangs(const SearchScope& scope, const ClusterState& state, const SearchPart& part, const PartNodes& nodes);

  const std::vector<GangIndex>& waiting() const { return waiting_; }  // whose minimum may be placed as a whole
  // Gangs that lie completely in this part, and have no pod more than they need.
  const std::vector<GangIndex>& whole() const { return whole_; }
  // The node of a pod of such a gang, as a position of PartNodes.
  std::size_t position_of(PodIndex pod) const { return positions_.at(pod); }

  // Whether the pod, which is placed, may be dropped by itself now. Gangs of several pods belong to one part, which
  // counts their spare ones.
  bool may_drop(PodIndex pod);
  // A pod is dropped, or placed, by itself.
  void note_dropped(PodIndex pod) { change_spare(pod, -1); }
  void note_placed(PodIndex pod) { change_spare(pod, +1); }

  // The gangs that a kept trial has destroyed and completed as a whole.
  void note_kept(const Trial& trial);
  // A pod now lies on the node at the position.
  void note_position(PodIndex pod, std::size_t position) { positions_[pod] = position; }

 private:
  struct ByValue {
    std::size_t operator()(PodIndex pod) const { return pod.value(); }
  };
  void find_whole_gangs(const PartNodes& nodes);
  bool is_placed_by_plan(PodIndex pod) const { return problem_.pods[pod].status == PodStatus::kPending; }
  std::int32_t& spare(GangIndex gang);
  void change_spare(PodIndex pod, std::int32_t change);

  const SearchScope& scope_;
  const Problem& problem_;
  const ClusterState& state_;
  const SearchPart& part_;
  std::vector<GangIndex> waiting_, whole_;
  std::unordered_map<PodIndex, std::size_t, ByValue> positions_;  // of the pods of gangs
  std::map<GangIndex, std::int32_t> spare_;                       // of the gangs that were asked for
};

// What a pod requests of one node, or an upper bound of what is free on one of several nodes: enough to reject most
// pods that fit nowhere.
struct CoarseAmounts {
  static constexpr std::int64_t kDevice = 1'000'000;

  Amount cpu = 0, memory = 0;
  std::int64_t share = 0;  // millionths of one device
  bool exceeds(const CoarseAmounts& most) const { return cpu > most.cpu || memory > most.memory || share > most.share; }
};

inline CoarseAmounts coarse_request(const PodClass& pod_class) {
  std::int64_t share = 0;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) share = CoarseAmounts::kDevice;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) share = pod_class.gpu.share;
  return {pod_class.request[kCpu.value()], pod_class.request[kMemory.value()], share};
}

}  // namespace muster::local_search
