// The free capacity of every node and device while a plan is built, with checkpoint and rollback.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "heuristics/state/device_list.h"
#include "heuristics/state/pod_lists.h"
#include "model/base/require.h"
#include "model/objective/wishes.h"
#include "model/problem/company_counts.h"
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
class ClusterState {
 public:
  enum class Releasing : std::uint8_t { kHeld, kFreed };
  using Checkpoint = std::size_t;

  // The same for any number of threads. Cost: O(nodes + pods x (resources + devices of the pod + depth of the queue)).
  ClusterState(const Problem& problem, Releasing releasing, int threads = 1);

  const Problem& problem() const { return *problem_; }
  // Free amounts of a node, by ResourceIndex; may be negative only if the snapshot's releasing pods overlap (kHeld).
  std::span<const Amount> free(NodeIndex node) const {
    return {free_.data() + node.value() * problem_->resource_count, problem_->resource_count};
  }
  // Free units of each device of a node.
  std::span<const DeviceUnits> free_devices(NodeIndex node) const {
    return {free_devices_.data() + nodes_[node].first_device, nodes_[node].devices};
  }
  std::int32_t idle_devices(NodeIndex node) const { return nodes_[node].idle_devices; }  // wholly free ones
  // For loops over many nodes, more than the caches hold: prefetches a node that is needed soon and, once that has had
  // its effect, its devices.
  void fetch(NodeIndex node) const {
    __builtin_prefetch(&nodes_[node], 1);
    __builtin_prefetch(free(node).data(), 1);
  }
  void fetch_devices(NodeIndex node) const { __builtin_prefetch(free_devices(node).data(), 1); }
  // By QueueIndex, inner queues included; the usage of pods that run (and stay) or are placed.
  const Indexed<QueueIndex, QueueAmounts>& usage() const { return usage_; }
  const Indexed<QueueIndex, QueueAmounts>& non_preemptible_usage() const { return non_preemptible_usage_; }
  // The part of a queue's usage by pods of effective priority `priority` or more. Exact for up to kPriorityBuckets
  // priorities; beyond that, adjacent ones are counted together. Cost: O(kPriorityBuckets).
  QueueAmounts usage_from(QueueIndex queue, std::int32_t priority) const;
  bool is_present(PodIndex pod) const { return !places_[pod].node.is_none(); }  // runs and stays, or is placed
  NodeIndex node_of(PodIndex pod) const { return places_[pod].node; }           // none: it is not present
  // Requires is_present, as do all functions about a pod's place. Cost: O(its devices).
  Place place_of(PodIndex pod) const {
    MUSTER_REQUIRE_SLOW(is_present(pod));
    return {places_[pod].node, devices_of(places_[pod])};
  }
  bool is_at(PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices) const;
  // Pods that are present on the node, in no particular (yet always the same) order. Valid until the next change.
  std::span<const PodIndex> pods_on(NodeIndex node) const { return pods_on_.pods(nodes_[node].pods); }
  // Increases with every change of the gang's pods, undone ones too.
  std::uint32_t version(GangIndex gang) const { return versions_[gang]; }
  // How many of the pods that the snapshot runs on the node are no longer there.
  std::int32_t departed(NodeIndex node) const { return nodes_[node].departed; }
  // Pods of a leaf group that count towards its minimum: present, or succeeded.
  std::int32_t members(GroupIndex leaf) const { return members_[leaf]; }
  // Pods present in a domain of an anti-affinity term that own the term, or match it.
  std::int32_t owners(AntiAffinityIndex term, DomainIndex domain) const { return owners_[term][domain.value()]; }
  std::int32_t matched(AntiAffinityIndex term, DomainIndex domain) const { return matched_[term][domain.value()]; }
  // Pods present by rules of affinity and spread.
  const CompanyCounts& company() const { return company_; }
  // How the present pods meet each other's preferred terms.
  const WishTally& wishes() const { return wishes_; }
  // How many pods matched by such a rule have been taken since the beginning, including those that came back. While it
  // is 0, the placements were made in an order in which each rule held.
  std::int64_t company_taken() const { return company_taken_; }

  // How many more pods may leave their places in the snapshot; below 0 if too many have left.
  const Indexed<DisruptionBudgetIndex, std::int64_t>& budgets_left() const { return budgets_left_; }
  // Rule DisruptionBudget: none has fallen below 0.
  bool keeps_budgets() const { return broken_budgets_ == 0; }
  // Whether these pods may leave in addition to all that have left; pods that have left already change nothing. Cost:
  // O(pods x budgets of each).
  bool budgets_allow(std::span<const PodIndex> pods) const { return budgets_left_.empty() || some_budgets_allow(pods); }

  // Puts a pod that is not present on a place that fits (see fit.h); takes a present one off. Cost: O(resources +
  // devices of the pod + depth of the queue).
  void put(PodIndex pod, NodeIndex node, const DeviceList& devices);
  void take(PodIndex pod);

  Checkpoint checkpoint() const { return log_.size(); }
  void rollback(Checkpoint checkpoint);

  // Nodes whose free capacity changed, in order; each put, take and undone change adds one entry, and the list only
  // grows. For indices that follow the state: the entries that they have not read yet are the nodes to re-examine.
  const std::vector<NodeIndex>& touched() const { return touched_; }
  // The same for gangs whose pods came or left.
  const std::vector<GangIndex>& changed_gangs() const { return changed_gangs_; }
  // Increases whenever a pod that runs in the snapshot comes or leaves, by undoing, too.
  std::uint64_t standing_version() const { return standing_version_; }
  // Grows with every change on the node, undone ones too.
  std::uint32_t version(NodeIndex node) const { return nodes_[node].version; }

  // Upper bounds of what is free on all nodes together, by ResourceIndex, and of devices in millionths of one.
  const std::vector<Amount>& free_in_sum() const { return free_in_sum_; }
  MicroGpu free_devices_in_sum() const { return free_devices_in_sum_; }

  static constexpr std::size_t kPriorityBuckets = 32;

 private:
  // A compact place: a bit for each device, or the position of the devices in `listed_`.
  struct Held {
    NodeIndex node;
    std::uint32_t devices = 0;
  };
  static constexpr std::uint32_t kListed = std::uint32_t{1} << 31;
  struct Change {
    PodIndex pod;
    Held place;
    bool put = true;
  };
  // What changes with every pod of a node, contiguous.
  struct OnNode {
    NodeClassIndex node_class;
    std::uint32_t first_device = 0, devices = 0;  // of free_devices_
    std::int32_t idle_devices = 0;
    std::int32_t departed = 0;
    PodLists::List pods;
    std::uint32_t version = 0;
  };
  void list_nodes();
  void begin_gangs_and_queues(Releasing releasing);
  void begin_nodes(const IndexRange<NodeIndex>& nodes, Releasing releasing);
  void count_free_in_sum();
  Held held(NodeIndex node, std::span<const std::int32_t> devices);
  DeviceList devices_of(const Held& place) const;
  bool is_same(const Held& place, NodeIndex node, std::span<const std::int32_t> devices) const;
  template <class Visit>
  void for_each_device(const Held& place, const Visit& visit) const;
  void apply(PodIndex pod, const Held& place, bool put);
  MicroGpu hold_room(const PodClass& pod_class, const Held& place, bool hold);
  void note_on_node(PodIndex pod, const Held& place, bool put);
  void count_in_gang(PodIndex pod, NodeIndex node, bool put);
  static MicroGpu micro_gpu(DeviceUnits whole, DeviceUnits units);  // rounded up
  void count_usage(PodIndex pod, NodeIndex node, bool put);
  std::size_t bucket_of(std::int32_t priority) const;
  void count_anti_affinity(const PodClass& pod_class, NodeIndex node, bool put);
  void count_in_budgets(PodIndex pod, const Held& place, bool put);
  void count_wishes(PodIndex pod, const Held& place, bool put);
  bool some_budgets_allow(std::span<const PodIndex> pods) const;

  const Problem* problem_;
  std::vector<Amount> free_;  // node x resource
  std::vector<DeviceUnits> free_devices_;
  Indexed<NodeIndex, OnNode> nodes_;
  PodLists pods_on_;
  Indexed<PodIndex, Held> places_;  // node none: not present
  std::vector<DeviceList> listed_;  // different ones, of nodes with more devices than there are bits
  std::map<std::vector<std::int32_t>, std::uint32_t> listed_at_;
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
  std::vector<QueueAmounts> usage_by_priority_;  // queue x bucket, highest priorities first
  std::size_t buckets_ = 1;
  Indexed<GroupIndex, std::int32_t> members_;
  Indexed<GangIndex, std::uint32_t> versions_;
  // Anti-affinity: by term, pods present in each domain.
  Indexed<AntiAffinityIndex, std::vector<std::int32_t>> owners_, matched_;
  Indexed<DisruptionBudgetIndex, std::int64_t> budgets_left_;
  std::int32_t broken_budgets_ = 0;
  CompanyCounts company_;
  WishTally wishes_;
  std::int64_t company_taken_ = 0;
  std::uint64_t standing_version_ = 0;
  std::vector<Change> log_;
  std::vector<NodeIndex> touched_;
  std::vector<GangIndex> changed_gangs_;
  std::vector<Amount> free_in_sum_;
  MicroGpu free_devices_in_sum_ = 0;
};

// The place that the snapshot gives a running or releasing pod.
Place snapshot_place(const Problem& problem, PodIndex pod);
// Whether a present pod is where the snapshot has it.
bool is_home(const ClusterState& state, PodIndex pod);

}  // namespace muster
