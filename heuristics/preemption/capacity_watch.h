// Notices whether any node has more free than before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/base/index.h"

namespace muster::preemption {

class CapacityWatch {
 public:
  // The state must outlive the watch.
  explicit CapacityWatch(const ClusterState& state) : state_(state) {}

  bool has_begun() const { return !versions_.empty(); }
  // Whether any node has more free, of any resource or device, than at the last call; true at the first one. Cost:
  // O(nodes touched since).
  bool has_grown() {
    if (!has_begun()) {
      begin();
      return true;
    }
    const std::size_t resources = state_.problem().resource_count;
    bool has_grown = false;
    const auto compare = [&](const auto& now, auto seen) {
      for (const auto amount : now) {
        has_grown = has_grown || amount > *seen;
        *seen++ = amount;
      }
    };
    for (; read_ < state_.changes().touched().size(); ++read_) {
      const NodeIndex node = state_.changes().touched()[read_];
      if (std::exchange(versions_[node], state_.version(node)) == state_.version(node)) continue;
      compare(state_.free(node), free_.begin() + static_cast<std::ptrdiff_t>(node.value() * resources));
      compare(state_.free_devices(node), devices_.begin() + static_cast<std::ptrdiff_t>(device_begin_[node]));
    }
    return has_grown;
  }

 private:
  void begin() {
    for (const NodeIndex node : state_.problem().nodes.indices()) {
      const auto free = state_.free(node);
      const auto devices = state_.free_devices(node);
      device_begin_.push_back(devices_.size());
      versions_.push_back(state_.version(node));
      free_.insert(free_.end(), free.begin(), free.end());
      devices_.insert(devices_.end(), devices.begin(), devices.end());
    }
    read_ = state_.changes().touched().size();
  }

  const ClusterState& state_;
  std::size_t read_ = 0;                        // of the state's touched nodes
  Indexed<NodeIndex, std::uint32_t> versions_;  // of the nodes, as they were read
  std::vector<Amount> free_;                    // node x resource
  std::vector<DeviceUnits> devices_;
  Indexed<NodeIndex, std::size_t> device_begin_;  // of devices_
};

}  // namespace muster::preemption
