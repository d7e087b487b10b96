// What would be free on each node after all eligible victims had left: a quick test before victims are searched for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/recently_touched.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// The capacity that each node would have, computed node by node on demand.
//
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

class ClearableCapacity {
 public:
  // Whether a pod would fit on a node after all eligible victims had left. kNoVictims: none would leave.
  enum class Answer : std::uint8_t { kTooSmall, kNoVictims, kFits };

  // All must outlive it. Cost: O(nodes).
  ClearableCapacity(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                    VictimEligibility& eligibility);

  // A scan of the nodes begins: which pods may be reclaimed, and which fit elsewhere, is determined anew. Cost:
  // O(queues + classes that run).
  void begin_scan();
  // Never kTooSmall for a node that the pod's victims can clear. Requires begin_scan(). Cost: O(1) while the node does
  // not change, else O(pods on the node x resources).
  Answer could_take(PodIndex pod, NodeIndex node);
  // Whether any pod that the plan has put on the node may give way to the claim. Cost: as could_take. Requires that no
  // pods are displaced.
  bool may_any_give_way(NodeIndex node);

 private:
  // Which victims may leave any node in a scan, apart from what is on the node.
  using Eligible = std::vector<std::int64_t>;
  struct Relocation {
    std::uint64_t scan = 0;  // as of which it is known
    bool is_possible = false;
    NodeIndex witness;
    std::size_t none_until = 0;      // one plus the number of touched nodes when there was none; 0: there may be one
    std::int32_t none_of_rank = -1;  // of the claim then, if other gangs might give way; else -1
  };

  bool may_move_victims() const;
  Eligible eligible_in_scan();
  bool could_relocate(PodClassIndex pod_class);
  bool is_target(NodeIndex node, const PodClass& pod_class);
  const CapacityTable::Entry& after_swap(NodeIndex node);
  const CapacityTable::Entry& after_victims(NodeIndex node);
  template <class Leaves, class Counts>
  void fill(NodeIndex node, CapacityTable& table, const Leaves& leaves, const Counts& counts);

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  VictimEligibility& eligibility_;
  CapacityTable of_swap_;                   // once the pods that may give way have left
  CapacityTable of_one_scan_;               // once all eligible victims have left
  std::map<Eligible, CapacityTable> kept_;  // valid for all scans with the same eligible victims
  CapacityTable* of_scan_ = &of_one_scan_;
  std::uint64_t scans_ = 0;
  Indexed<PodClassIndex, Relocation> relocation_;
  RecentlyTouched recently_touched_;
};

}  // namespace muster::preemption
