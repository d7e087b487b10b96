// What is free on every node and device while a plan is put together, with checkpoint and rollback.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "heuristics/device_list.h"
#include "heuristics/pod_lists.h"
#include "model/company_counts.h"
#include "model/plan.h"
#include "model/problem.h"
#include "model/wishes.h"

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

  // The same for any number of threads. Cost: O(nodes + pods x (resources + devices of the pod + depth of the queue)).
  ClusterState(const Problem& problem, Releasing releasing, int threads = 1);

  const Problem& problem() const { return *problem_; }
  // Free amounts of a node, by ResourceIndex; may be negative only where the snapshot's releasing pods overlap (kHeld).
  std::span<const Amount> free(NodeIndex node) const {
    return {free_.data() + node.value() * problem_->resource_count, problem_->resource_count};
  }
  // Free units of each device of a node.
  std::span<const DeviceUnits> free_devices(NodeIndex node) const {
    return {free_devices_.data() + nodes_[node].first_device, nodes_[node].devices};
  }
  std::int32_t idle_devices(NodeIndex node) const { return nodes_[node].idle_devices; }  // wholly free ones
  // For whoever looks at many nodes in turn, of which there is more than the caches hold: tells the processor that a
  // node comes soon; and, once that has had its effect, that its devices do.
  void fetch(NodeIndex node) const {
    __builtin_prefetch(&nodes_[node], 1);
    __builtin_prefetch(free(node).data(), 1);
  }
  void fetch_devices(NodeIndex node) const { __builtin_prefetch(free_devices(node).data(), 1); }
  // By QueueIndex, inner queues included; of what runs (and stays) or is placed.
  const Indexed<QueueIndex, QueueAmounts>& usage() const { return usage_; }
  const Indexed<QueueIndex, QueueAmounts>& non_preemptible_usage() const { return non_preemptible_usage_; }
  // The part of a queue's usage that is of effective priority `priority` or more. Exact for up to kPriorityBuckets
  // priorities, neighbouring ones counted together beyond. Cost: O(kPriorityBuckets).
  QueueAmounts usage_from(QueueIndex queue, std::int32_t priority) const;
  bool is_present(PodIndex pod) const { return !places_[pod].node.is_none(); }  // runs and stays, or is placed
  NodeIndex node_of(PodIndex pod) const { return places_[pod].node; }           // none: it is not present
  // Requires is_present, as all that speaks of a pod's place. Cost: O(its devices).
  Place place_of(PodIndex pod) const { return {places_[pod].node, devices_of(places_[pod])}; }
  bool is_at(PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices) const;
  // Pods that are present on the node, in no particular (yet always the same) order. Valid until the next change.
  std::span<const PodIndex> pods_on(NodeIndex node) const { return pods_on_.pods(nodes_[node].pods); }
  // Grows with every change of the gang's pods, undone ones too.
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
  // What the pods present have of what they wish of one another.
  const WishTally& wishes() const { return wishes_; }
  // How many pods that such a rule matches have been taken away since the beginning, those that came back included.
  // While it is 0, what is placed was put down in an order in which each rule held.
  std::int64_t company_taken() const { return company_taken_; }

  // How many more pods may leave the places where the snapshot runs them; below 0 where too many have.
  const Indexed<DisruptionBudgetIndex, std::int64_t>& budgets_left() const { return budgets_left_; }
  // Rule DisruptionBudget: none has fallen below 0.
  bool keeps_budgets() const { return broken_budgets_ == 0; }
  // Whether these pods may leave beside all that has: those that have left already change nothing. Cost: O(pods x
  // budgets of each).
  bool budgets_allow(std::span<const PodIndex> pods) const { return budgets_left_.empty() || some_budgets_allow(pods); }

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
  // Grows whenever a pod that the snapshot runs comes or goes, by undoing, too.
  std::uint64_t standing_version() const { return standing_version_; }
  // Grows with every change on the node, undone ones too.
  std::uint32_t version(NodeIndex node) const { return nodes_[node].version; }

  // Upper bounds of what is free on all nodes together, by ResourceIndex, and of devices in millionths of one.
  const std::vector<Amount>& free_in_sum() const { return free_in_sum_; }
  MicroGpu free_devices_in_sum() const { return free_devices_in_sum_; }

  static constexpr std::size_t kPriorityBuckets = 32;

 private:
  // A place in little memory: a bit for each device, or the position of the devices in `listed_`.
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
  // What changes with every pod of a node, side by side.
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
// Whether a pod that is present is where the snapshot has it.
bool is_home(const ClusterState& state, PodIndex pod);

}  // namespace muster
