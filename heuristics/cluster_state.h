// What is free on every node and device while a plan is put together, with checkpoint and rollback.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/device_list.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

// Where one pod stands in the state: its node and devices.
struct Place {
  NodeIndex node;
  DeviceList devices;  // ascending
  friend bool operator==(const Place&, const Place&) = default;
};

// Mutable, one a thread, cheap to copy. It begins as the snapshot's cluster: running pods hold their room; releasing
// ones hold it too as long as `count_releasing` is kHeld (room that may be used at once), and hold none with kFreed
// (room that may be promised). Every change is logged; rollback undoes all changes since a checkpoint in reverse order.
class ClusterState {
 public:
  enum class Releasing : std::uint8_t { kHeld, kFreed };
  using Checkpoint = std::size_t;

  ClusterState(const Problem& problem, Releasing releasing);

  const Problem& problem() const { return *problem_; }
  // Free amounts of a node, by ResourceIndex; may be negative only where the snapshot's releasing pods overlap (kHeld).
  std::span<const Amount> free(NodeIndex node) const {
    return {free_.data() + node.value() * problem_->resource_count, problem_->resource_count};
  }
  // Free units of each device of a node.
  std::span<const DeviceUnits> free_devices(NodeIndex node) const {
    const std::uint32_t begin = device_begin_[node.value()];
    return {free_devices_.data() + begin, device_begin_[node.value() + 1] - begin};
  }
  std::int32_t idle_devices(NodeIndex node) const { return idle_devices_[node.value()]; }  // wholly free ones
  // By QueueIndex, inner queues included; of what runs (and stays) or is placed.
  const Indexed<QueueIndex, QueueAmounts>& usage() const { return usage_; }
  const Indexed<QueueIndex, QueueAmounts>& non_preemptible_usage() const { return non_preemptible_usage_; }
  // The part of a queue's usage that is of effective priority `priority` or more. Exact for up to kPriorityBuckets
  // priorities, neighbouring ones counted together beyond. Cost: O(kPriorityBuckets).
  QueueAmounts usage_from(QueueIndex queue, std::int32_t priority) const;
  bool is_present(PodIndex pod) const { return !places_[pod].node.is_none(); }  // runs and stays, or is placed
  const Place& place_of(PodIndex pod) const { return places_[pod]; }            // requires is_present
  // Pods that are present on the node, in no particular (yet always the same) order.
  const std::vector<PodIndex>& pods_on(NodeIndex node) const { return pods_on_[node]; }
  // Grows with every change of the gang's pods, undone ones too.
  std::uint32_t version(GangIndex gang) const { return versions_[gang]; }
  // How many of the pods that the snapshot runs on the node are no longer there.
  std::int32_t departed(NodeIndex node) const { return departed_[node]; }
  // Pods of a leaf group that count towards its minimum: present, or succeeded.
  std::int32_t members(GroupIndex leaf) const { return members_[leaf]; }
  // Pods present in a domain of an anti-affinity term that own the term, or match it.
  std::int32_t owners(AntiAffinityIndex term, DomainIndex domain) const { return owners_[term][domain.value()]; }
  std::int32_t matched(AntiAffinityIndex term, DomainIndex domain) const { return matched_[term][domain.value()]; }

  // Puts a pod that is not present on a place that fits (see fit.h); takes one that is present away. Cost: O(resources
  // + devices of the pod + depth of the queue).
  void put(PodIndex pod, NodeIndex node, const DeviceList& devices);
  void take(PodIndex pod);

  Checkpoint checkpoint() const { return log_.size(); }
  void rollback(Checkpoint checkpoint);

  // Nodes whose room changed, in order, each put, take and undone change one entry; it only ever grows. For indices
  // that follow the state: what they have not read yet is what they have to look at again.
  const std::vector<NodeIndex>& touched() const { return touched_; }
  // The same of gangs whose pods came or went.
  const std::vector<GangIndex>& changed_gangs() const { return changed_gangs_; }
  // Grows with every change on the node, undone ones too.
  std::uint32_t version(NodeIndex node) const { return node_versions_[node]; }

  // Upper bounds of what is free on all nodes together, by ResourceIndex, and of devices in millionths of one.
  const std::vector<Amount>& free_in_sum() const { return free_in_sum_; }
  MicroGpu free_devices_in_sum() const { return free_devices_in_sum_; }

  static constexpr std::size_t kPriorityBuckets = 32;

 private:
  struct Change {
    PodIndex pod;
    Place place;
    bool put = true;
  };
  void apply(PodIndex pod, const Place& place, bool put);
  void hold_room(PodIndex pod, const Place& place, bool hold);
  MicroGpu micro_gpu(NodeIndex node, DeviceUnits units) const;  // rounded up
  void count_usage(PodIndex pod, NodeIndex node, bool put);
  std::size_t bucket_of(std::int32_t priority) const;
  void count_anti_affinity(const PodClass& pod_class, NodeIndex node, bool put);

  const Problem* problem_;
  std::vector<Amount> free_;                 // node x resource
  std::vector<std::uint32_t> device_begin_;  // by node, one more than there are nodes
  std::vector<DeviceUnits> free_devices_;
  std::vector<std::int32_t> idle_devices_;
  Indexed<PodIndex, Place> places_;  // node none: not present
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
  std::vector<QueueAmounts> usage_by_priority_;  // queue x bucket, highest priorities first
  std::size_t buckets_ = 1;
  Indexed<GroupIndex, std::int32_t> members_;
  Indexed<NodeIndex, std::int32_t> departed_;
  Indexed<GangIndex, std::uint32_t> versions_;
  Indexed<NodeIndex, std::vector<PodIndex>> pods_on_;
  // Anti-affinity: by term, pods present in each domain.
  Indexed<AntiAffinityIndex, std::vector<std::int32_t>> owners_, matched_;
  std::vector<Change> log_;
  std::vector<NodeIndex> touched_;
  std::vector<GangIndex> changed_gangs_;
  Indexed<NodeIndex, std::uint32_t> node_versions_;
  std::vector<Amount> free_in_sum_;
  MicroGpu free_devices_in_sum_ = 0;
};

// The place that the snapshot gives a running or releasing pod.
Place snapshot_place(const Problem& problem, PodIndex pod);
// Whether a pod that is present is where the snapshot has it.
bool is_home(const ClusterState& state, PodIndex pod);

}  // namespace muster
