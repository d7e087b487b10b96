// The state of the cluster while a plan is built: where each pod is, with checkpoint and rollback.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/state/device_sets.h"
#include "heuristics/state/node_states.h"
#include "heuristics/state/state_counts.h"
#include "model/base/require.h"
#include "model/objective/preferred_terms.h"
#include "model/problem/inter_pod_counts.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

// The placement of one pod in the state: its node and devices.
struct Place {
  NodeIndex node;
  DeviceList devices;  // ascending
  friend bool operator==(const Place&, const Place&) = default;
};

// Mutable, one a thread, cheap to copy. It begins as the snapshot's cluster: running pods hold their resources;
// releasing ones hold them too with `count_releasing` kHeld (the free rest may be used immediately), and hold none with
// kFreed (the free rest may be promised). Every change is logged; rollback undoes all changes since a checkpoint in
// reverse order.
//
// It puts pods on nodes and takes them off. What follows from that is kept by an object each: the nodes, the usage of
// queues, the counts of gangs and of the rules between pods, the disruption budgets.
class ClusterState {
 public:
  enum class Releasing : std::uint8_t { kHeld, kFreed };
  using Checkpoint = std::size_t;

  // The same for any number of threads. Cost: O(nodes + pods x (resources + devices of the pod + depth of the queue)).
  ClusterState(const Problem& problem, Releasing releasing, int threads = 1);

  const Problem& problem() const { return *problem_; }

  // Free capacity and present pods by node; the most frequent questions directly.
  const NodeStates& nodes() const { return nodes_; }
  std::span<const Amount> free(NodeIndex node) const { return nodes_.free(node); }
  std::span<const DeviceUnits> free_devices(NodeIndex node) const { return nodes_.free_devices(node); }
  std::int32_t idle_devices(NodeIndex node) const { return nodes_.idle_devices(node); }
  std::span<const PodIndex> pods_on(NodeIndex node) const { return nodes_.pods_on(node); }
  std::uint32_t version(NodeIndex node) const { return nodes_.version(node); }

  bool is_present(PodIndex pod) const { return !places_[pod].node.is_none(); }  // runs and stays, or is placed
  NodeIndex node_of(PodIndex pod) const { return places_[pod].node; }           // none: it is not present
  // Requires is_present. Cost: O(its devices).
  Place place_of(PodIndex pod) const {
    MUSTER_REQUIRE_SLOW(is_present(pod));
    return {places_[pod].node, device_sets_.list_of(places_[pod].devices)};
  }
  bool is_at(PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices) const {
    return places_[pod].node == node && device_sets_.is_equal(places_[pod].devices, devices);
  }

  // See GangCounts.
  std::int32_t members(GroupIndex leaf) const { return gangs_.members(leaf); }
  std::uint32_t version(GangIndex gang) const { return gangs_.version(gang); }

  // Of pods that run (and stay) or are placed.
  const QueueUsage& queues() const { return queues_; }
  // Of pods that hold room, releasing ones too with kHeld.
  const AntiAffinityCounts& anti_affinity() const { return anti_affinity_; }
  // Pods present by rules of affinity and spread.
  const InterPodCounts& inter_pod() const { return inter_pod_; }
  // How many pods matched by such a rule have been taken since the beginning, including those that came back. While it
  // is 0, the placements were made in an order in which each rule held.
  std::int64_t inter_pod_taken() const { return inter_pod_taken_; }
  // How the present pods meet each other's preferred terms.
  const PreferenceTally& preferred_terms() const { return preferred_terms_; }

  // How many more pods may leave their places in the snapshot.
  const BudgetsLeft& budgets() const { return budgets_; }
  // Whether these pods may leave in addition to all that have left; pods that have left already change nothing. Cost:
  // O(pods x budgets of each).
  bool budgets_allow(std::span<const PodIndex> pods) const;

  // Puts a pod on a place that fits (see fit.h). Requires that the pod is not present. Cost: O(resources + devices of
  // the pod + depth of the queue).
  void put(PodIndex pod, NodeIndex node, const DeviceList& devices);
  // Takes a pod off its place. Requires is_present. Cost: as `put`.
  void take(PodIndex pod);

  Checkpoint checkpoint() const { return log_.size(); }
  void rollback(Checkpoint checkpoint);

  // What has been put, taken and undone, for objects that follow the state.
  const StateChanges& changes() const { return changes_; }

 private:
  struct Change {
    PodIndex pod;
    CompactPlace place;
    bool put = true;
  };
  void begin_counts(Releasing releasing);
  void begin_nodes(const IndexRange<NodeIndex>& nodes, Releasing releasing);
  void apply(PodIndex pod, const CompactPlace& place, bool put);

  const Problem* problem_;
  NodeStates nodes_;
  DeviceSets device_sets_;
  Indexed<PodIndex, CompactPlace> places_;
  GangCounts gangs_;
  QueueUsage queues_;
  AntiAffinityCounts anti_affinity_;
  InterPodCounts inter_pod_;
  std::int64_t inter_pod_taken_ = 0;
  PreferenceTally preferred_terms_;
  BudgetsLeft budgets_;
  std::vector<Change> log_;
  StateChanges changes_;
};

// The place that the snapshot gives a running or releasing pod.
Place snapshot_place(const Problem& problem, PodIndex pod);
// Whether a present pod is where the snapshot has it.
bool is_home(const ClusterState& state, PodIndex pod);

}  // namespace muster
