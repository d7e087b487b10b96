// The nodes of a cluster state: what each has free, and which pods are present on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/state/device_sets.h"
#include "model/base/index.h"
#include "model/base/require.h"
#include "model/problem/problem.h"

namespace muster {

// Many short lists of pods, in one block of memory: copied in one operation, without an allocation for each.
//
// Each list keeps the order in which its pods were added. The owner of a list keeps its descriptor.
class PodLists {
 public:
  struct List {
    std::uint32_t begin = 0, size = 0, capacity = 0;
  };

  // A new list, with capacity for that many pods before it has to move.
  List make(std::uint32_t capacity) {
    const List list{static_cast<std::uint32_t>(pods_.size()), 0, capacity};
    pods_.resize(pods_.size() + capacity);
    return list;
  }
  void reserve(std::size_t pods) { pods_.reserve(pods); }

  // Valid until the next `add` or `make`.
  std::span<const PodIndex> pods(const List& list) const { return std::span(pods_).subspan(list.begin, list.size); }

  // Cost: O(1), amortised.
  void add(List& list, PodIndex pod) {
    if (list.size == list.capacity) grow(list);
    pods_[list.begin + list.size++] = pod;
  }
  // Requires that the pod is in the list. Cost: O(its size).
  void remove(List& list, PodIndex pod) {
    const auto all = std::span(pods_).subspan(list.begin, list.size);
    const auto at = std::ranges::find(all, pod);
    MUSTER_REQUIRE(at != all.end());
    std::copy(at + 1, all.end(), at);
    --list.size;
  }

 private:
  // Moves the list to the end, with twice the capacity; its old space is not reused.
  void grow(List& list) {
    constexpr std::uint32_t kLeast = 4;
    const auto begin = static_cast<std::uint32_t>(pods_.size());
    const std::uint32_t capacity = std::max(kLeast, 2 * list.capacity);
    pods_.resize(pods_.size() + capacity);
    std::copy_n(pods_.begin() + list.begin, list.size, pods_.begin() + begin);
    list.begin = begin;
    list.capacity = capacity;
  }

  std::vector<PodIndex> pods_;
};

// Cheap to copy. A change counts for a pod that comes with `by` 1, and for one that leaves with -1.
class NodeStates {
 public:
  // All nodes are empty, all pods have departed, and the sums are not counted. Cost: O(nodes x (resources + devices) +
  // pods).
  explicit NodeStates(const Problem& problem);

  // Free amounts of a node, by ResourceIndex; may be negative only if the snapshot's releasing pods overlap.
  std::span<const Amount> free(NodeIndex node) const {
    return {free_.data() + node.value() * problem_->resource_count, problem_->resource_count};
  }
  // Free units of each device of a node.
  std::span<const DeviceUnits> free_devices(NodeIndex node) const {
    return {free_devices_.data() + nodes_[node].first_device, nodes_[node].devices};
  }
  std::int32_t idle_devices(NodeIndex node) const { return nodes_[node].idle_devices; }  // wholly free ones
  // Pods that are present on the node, in no particular (yet always the same) order. Valid until the next change.
  std::span<const PodIndex> pods_on(NodeIndex node) const { return pods_on_.pods(nodes_[node].pods); }
  // Grows with every change on the node, undone ones too.
  std::uint32_t version(NodeIndex node) const { return nodes_[node].version; }
  // How many of the pods that the snapshot runs on the node are no longer there.
  std::int32_t departed(NodeIndex node) const { return nodes_[node].departed; }

  // Upper bounds of what is free on all nodes together, by ResourceIndex, and of devices in millionths of one.
  const std::vector<Amount>& free_total() const { return free_total_; }
  MicroGpu free_devices_total() const { return free_devices_total_; }

  // For loops over many nodes, more than the caches hold: prefetches a node that is needed soon and, once that has had
  // its effect, its devices.
  void fetch(NodeIndex node) const {
    __builtin_prefetch(&nodes_[node], 1);
    __builtin_prefetch(free(node).data(), 1);
  }
  void fetch_devices(NodeIndex node) const { __builtin_prefetch(free_devices(node).data(), 1); }

  // What a pod of the class holds on the place. The node alone, not the sums: threads may fill different nodes at the
  // same time. Returns the increase of the node's free devices, in millionths of one. Cost: O(resources + devices of
  // the pod).
  MicroGpu fill(const PodClass& pod_class, const CompactPlace& place, const DeviceSets& sets, std::int32_t by);
  // To be called once the nodes are filled as in the snapshot. Cost: O(nodes x (resources + devices)).
  void begin_sums();
  // The same as `fill`, and counts it in the sums.
  void count(const PodClass& pod_class, const CompactPlace& place, const DeviceSets& sets, std::int32_t by) {
    free_devices_total_ += fill(pod_class, place, sets, by);
    for (std::size_t r = 0; r < free_total_.size(); ++r) free_total_[r] -= by * pod_class.request[r];
  }

  // The pod is present on the node from now on, or no longer. Cost: O(1), amortised; O(pods on the node).
  void add(PodIndex pod, NodeIndex node) {
    OnNode& on_node = nodes_[node];
    if (runs_on(node, pod)) --on_node.departed;
    pods_on_.add(on_node.pods, pod);
    ++on_node.version;
  }
  void remove(PodIndex pod, NodeIndex node) {
    OnNode& on_node = nodes_[node];
    if (runs_on(node, pod)) ++on_node.departed;
    pods_on_.remove(on_node.pods, pod);
    ++on_node.version;
  }

 private:
  // What changes with every pod of a node, contiguous.
  struct OnNode {
    NodeClassIndex node_class;
    std::uint32_t first_device = 0, devices = 0;  // of free_devices_
    std::int32_t idle_devices = 0;
    std::int32_t departed = 0;
    PodLists::List pods;
    std::uint32_t version = 0;
  };
  bool runs_on(NodeIndex node, PodIndex pod) const {  // in the snapshot
    return problem_->pods[pod].node == node && problem_->pods[pod].status == PodStatus::kRunning;
  }
  static MicroGpu micro_gpu(DeviceUnits whole, DeviceUnits units);  // rounded up

  const Problem* problem_;
  std::vector<Amount> free_;  // node x resource
  std::vector<DeviceUnits> free_devices_;
  Indexed<NodeIndex, OnNode> nodes_;
  PodLists pods_on_;
  std::vector<Amount> free_total_;
  MicroGpu free_devices_total_ = 0;
};

}  // namespace muster
