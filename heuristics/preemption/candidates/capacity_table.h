// The capacity that each node would have, computed node by node on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Storage for two amounts by node: what would be free with all victims gone, on counted resources and on each device;
// and, in total, what would be left of it. All calls but begin cost O(1).
class CapacityTable {
 public:
  struct Entry {
    std::uint64_t key = 0;                        // as of which it is known
    std::uint32_t node_version = 0;               // then
    bool any_leaves = false, any_placed = false;  // any_placed: by the plan, next to those that run
    DeviceUnits devices_left = 0;                 // total
  };

  // Without it, entries are valid for one scan alone.
  void keep() { is_kept_ = true; }
  bool is_kept() const { return is_kept_; }

  bool is_begun() const { return !entries_.empty(); }
  // Makes a place for each node. Cost: O(nodes x (resources + devices)).
  void begin(const ClusterState& state) {
    const Problem& problem = state.problem();
    resources_ = problem.resource_count;
    entries_.resize(problem.nodes.size());
    free_.resize(problem.nodes.size() * resources_);
    left_.resize(free_.size());
    std::size_t devices = 0;
    for (const NodeIndex node : problem.nodes.indices()) {
      device_begin_.push_back(devices);
      devices += state.free_devices(node).size();
    }
    device_begin_.push_back(devices);
    devices_.resize(devices);
  }
  Entry& entry(NodeIndex node) { return entries_[node]; }
  std::span<Amount> free(NodeIndex node) { return {free_.data() + node.value() * resources_, resources_}; }
  std::span<Amount> left(NodeIndex node) { return {left_.data() + node.value() * resources_, resources_}; }
  std::span<DeviceUnits> devices(NodeIndex node) {
    const std::size_t first = device_begin_[node.value()];
    return {devices_.data() + first, device_begin_[node.value() + 1] - first};
  }
  Room room(NodeIndex node) { return {free(node), devices(node)}; }

 private:
  bool is_kept_ = false;
  std::size_t resources_ = 0;
  Indexed<NodeIndex, Entry> entries_;
  std::vector<Amount> free_, left_;  // node x resource
  std::vector<DeviceUnits> devices_;
  std::vector<std::size_t> device_begin_;  // of devices_, by node, and the end
};

}  // namespace muster::preemption
