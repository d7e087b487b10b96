// What is free on every node and device while a plan is put together, with checkpoint and rollback.
#pragma once

#include <cstdint>
#include <vector>

#include "model/plan.h"
#include "model/problem.h"

namespace muster {

// Where one pod stands in the state: its node and devices.
struct Place {
  NodeIndex node;
  std::vector<std::int32_t> devices;  // ascending
};

// Mutable, one a thread, cheap to copy. It begins as the snapshot's cluster: running pods hold their room; releasing ones
// hold it too as long as `count_releasing` is kHeld (room that may be used at once), and hold none with kFreed (room that may
// be promised). Every change is logged; rollback undoes all changes since a checkpoint in reverse order.
class ClusterState {
 public:
  enum class Releasing : std::uint8_t { kHeld, kFreed };
  using Checkpoint = std::size_t;

  ClusterState(const Problem& problem, Releasing releasing);

  const Problem& problem() const { return *problem_; }
  // Free amounts of a node, by ResourceIndex; may be negative only where the snapshot's releasing pods overlap (kHeld).
  std::span<const Amount> free(NodeIndex node) const;
  // Free units of each device of a node.
  std::span<const DeviceUnits> free_devices(NodeIndex node) const;
  std::int32_t idle_devices(NodeIndex node) const;  // wholly free ones
  // By QueueIndex, inner queues included; of what runs (and stays) or is placed.
  const Indexed<QueueIndex, QueueAmounts>& usage() const { return usage_; }
  const Indexed<QueueIndex, QueueAmounts>& non_preemptible_usage() const { return non_preemptible_usage_; }
  bool is_present(PodIndex pod) const;  // runs and stays, or is placed
  const Place& place_of(PodIndex pod) const;  // requires is_present

  // Puts a pod that is not present on a place that fits (see fit.h); takes one that is present away. Cost: O(resources +
  // devices of the pod + depth of the queue).
  void put(PodIndex pod, NodeIndex node, const std::vector<std::int32_t>& devices);
  void take(PodIndex pod);

  Checkpoint checkpoint() const { return log_.size(); }
  void rollback(Checkpoint checkpoint);

 private:
  struct Change {
    PodIndex pod;
    Place place;
    bool put = true;
  };
  void apply(PodIndex pod, const Place& place, bool put);

  const Problem* problem_;
  std::vector<Amount> free_;                 // node x resource
  std::vector<std::uint32_t> device_begin_;  // by node, one more than there are nodes
  std::vector<DeviceUnits> free_devices_;
  std::vector<std::int32_t> idle_devices_;
  Indexed<PodIndex, Place> places_;          // node none: not present
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
  std::vector<std::vector<std::int32_t>> owners_, matched_;  // anti-affinity: by term, pods present in each domain
  std::vector<Change> log_;
  friend class Fit;
};

}  // namespace muster
