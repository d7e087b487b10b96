// The victims of one node: the cheapest that may leave so that a pod fits there.
//
// Victims leave, the cheapest first, until the pod fits; then those that turn out not to be in the way are reprieved,
// the last one first. This is the method of kube-scheduler. Before that, a quick test of what would be free on the node
// after all eligible victims had left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/context.h"
#include "heuristics/preemption/victims.h"
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

  // The context must outlive it. Cost: O(nodes).
  explicit ClearableCapacity(const PreemptionContext& context);

  // A scan of the nodes for the claim begins: which pods may be reclaimed, and which fit elsewhere, is determined anew.
  // Cost: O(queues + classes that run).
  void begin_scan(const Claim& claim);
  // Whether a running pod may be evicted, and a queue reclaimed from, as of the start of the scan. O(1).
  bool may_evict_at_first(const Claim& claim, PodIndex pod) const;
  bool may_reclaim_at_first(QueueIndex queue) const { return may_reclaim_[queue.value()]; }
  // Never kTooSmall for a node that the pod's victims can clear. Requires begin_scan(). Cost: O(1) while the node does
  // not change, else O(pods on the node x resources).
  Answer could_take(const Claim& claim, PodIndex pod, NodeIndex node);
  // Whether any pod that the plan has put on the node may give way to the claim. Cost: as could_take. Requires that no
  // pods are displaced.
  bool may_any_give_way(const Claim& claim, NodeIndex node);

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

  bool may_move_victims(const Claim& claim) const;
  Eligible eligible_in_scan(const Claim& claim);
  bool could_relocate(const Claim& claim, PodClassIndex pod_class);
  bool is_target(const Claim& claim, NodeIndex node, const PodClass& pod_class);
  const CapacityTable::Entry& after_swap(const Claim& claim, NodeIndex node);
  const CapacityTable::Entry& after_victims(const Claim& claim, NodeIndex node);
  template <class Leaves, class Counts>
  void fill(NodeIndex node, CapacityTable& table, const Leaves& leaves, const Counts& counts);

  const PreemptionContext& context_;
  const Problem& problem_;
  const ClusterState& state_;
  std::vector<bool> may_reclaim_;           // by queue, at the start of the scan
  CapacityTable of_swap_;                   // once the pods that may give way have left
  CapacityTable of_one_scan_;               // once all eligible victims have left
  std::map<Eligible, CapacityTable> kept_;  // valid for all scans with the same eligible victims
  CapacityTable* of_scan_ = &of_one_scan_;
  std::uint64_t scans_ = 0;
  Indexed<PodClassIndex, Relocation> relocation_;
  RecentlyTouched recently_touched_;
};

// A node that can take a pod once some victims have left it.
struct NodeCandidate {
  VictimCost cost;  // of all victims
  NodeIndex node;
  std::vector<VictimUnit> victims;

  void add(VictimUnit unit) {
    cost.add(unit.cost);
    victims.push_back(std::move(unit));
  }
};

// Whether disruption budgets allow that all of the candidate's victims leave in the current state. Cost: O(pods x
// budgets of each).
bool budgets_allow(const ClusterState& state, const NodeCandidate& candidate);
// Whether any pod on the node counts in a budget that allows some evictions, but not all.
bool has_budgets(const ClusterState& state, NodeIndex node);

class CandidateBuilder {
 public:
  // The context must outlive it.
  explicit CandidateBuilder(PreemptionContext& context) : context_(context), capacity_(context) {}

  ClearableCapacity& capacity() { return capacity_; }
  // The node with the cheapest victims whose departure makes the pod fit; none: the search finds no victims. The state
  // is as before; nodes that were tried count as touched. Requires that the pod is not present, and begin_scan() of the
  // capacity. Cost: O(victims x that of the units on the node).
  std::optional<NodeCandidate> candidate(const Claim& claim, PodIndex pod, NodeIndex node);
  // The same by moves alone. Only the free capacity of the node changes with them, so the state is left alone. Requires
  // that no anti-affinity, affinity or spread concerns it. Cost: O(pods on the node x devices).
  std::optional<NodeCandidate> candidate_by_moves(const Claim& claim, PodIndex pod, NodeIndex node) const;

 private:
  // The largest first if the cheapest use up a disruption budget before there is room.
  enum class VictimOrder : std::uint8_t { kCheapestFirst, kLargestFirst };
  struct Taken {
    std::vector<VictimUnit> units;
    std::vector<std::vector<Place>> places;  // from which they were taken
  };

  template <class Find>
  std::optional<NodeCandidate> in_either_order(NodeIndex node, const Find& find) const;
  std::optional<NodeCandidate> candidate(const Claim& claim, PodIndex pod, NodeIndex node, VictimOrder order);
  bool take_until_fits(Claim claim, PodIndex pod, NodeIndex node, VictimOrder order, Taken& taken);
  NodeCandidate reprieved(PodIndex pod, NodeIndex node, Taken taken);
  std::optional<VictimUnit> next_unit(const Claim& claim, NodeIndex node, VictimOrder order) const;
  std::optional<NodeCandidate> by_moves(const Claim& claim, PodIndex pod, NodeIndex node, VictimOrder order) const;

  PreemptionContext& context_;
  ClearableCapacity capacity_;
};

}  // namespace muster::preemption
