// What a preemption plan is made from, and in which state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/leading_levels.h"
#include "model/base/index.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// All must outlive the planner. `chooser` and `placer` work on `state`; `bounds` and `rules` are those of the snapshot
// as it was before any change.
struct PreemptionInputs {
  const Problem& problem;
  const FairShares& shares;
  const QueueBounds& bounds;
  const EvictionRules& rules;
  ClusterState& state;
  placement::NodeChooser& chooser;
  placement::GangPlacer& placer;
  const StopRequest& stop;
  const LeadingLevels* levels = nullptr;  // as counted of what `state` is a copy of; may be none
};

// Remembers that work was stopped.
//
// Raised once the request has been answered with yes, until it is lowered. All calls cost O(1), or that of the request.
class StopFlag {
 public:
  // The request may be empty; it must outlive the flag.
  explicit StopFlag(const StopRequest& request) : request_(request) {}

  bool is_raised() const { return is_raised_; }
  void lower() { is_raised_ = false; }
  // Asks the request, and raises the flag if it says stop.
  void ask() {
    if (request_ && request_()) is_raised_ = true;
  }
  // Whether the flag is raised or would be by the next question.
  bool is_due() const { return is_raised_ || (request_ && request_()); }
  // For loops over many elements: asks at every 64th.
  void ask_at(std::size_t position) {
    if (position % 64 == 63) ask();
  }

 private:
  const StopRequest& request_;
  bool is_raised_ = false;
};

// Quick tests against what is free on all nodes together: pods that do not even fit there fit nowhere.
//
// Whether that many pods of the class find as many devices as they ask for in the total of what is free on all nodes.
// False only if they cannot all be placed. Requires pods >= 0. Cost: O(1).
bool devices_fit_total(const ClusterState& state, const PodClass& pod_class, std::int64_t pods);
// The same for all resources of one pod. Cost: O(resources).
bool fits_total(const ClusterState& state, const PodClass& pod_class);

// Notices whether any node has more free than before.
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
