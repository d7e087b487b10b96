// State shared by the referee's rules: the plan matched with the snapshot, and the referee's own sums. Only
// model/referee*.cpp includes this.
//
// A pod *stays* when it runs and is not evicted, is *moved* when it runs, is evicted and is placed again, is *lost*
// when it runs and is evicted for good, is *new* when it was pending and is placed, and *leaves* its old place when it
// is evicted (moved or lost) or was releasing already.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/referee/rule.h"
#include "model/snapshot/plan.h"

namespace muster::referee {

// The capacity of every node and each of its devices, contiguous. A node has cells for the resources that it reports,
// and none for the others, of which there may be thousands.
class Capacities {
 public:
  Capacities(const Snapshot& snapshot, const Problem& problem);

  std::size_t nodes() const { return device_memory_mib_.size(); }
  std::int32_t devices(NodeIndex node) const {
    return static_cast<std::int32_t>(device_begin_[node.value() + 1] - device_begin_[node.value()]);
  }
  Amount of(NodeIndex node, ResourceIndex resource) const {
    const std::size_t cell = at(node, resource);
    return cell == kNone ? 0 : amounts_[cell];
  }
  DeviceUnits of_device(NodeIndex node) const;
  // Only the pods that already run there ever hold a device beyond those that the node reports.
  DeviceUnits of_device(NodeIndex node, std::int32_t device) const {
    return device < reported_devices_[node.value()] ? of_device(node) : 0;
  }
  std::int64_t device_memory_mib(NodeIndex node) const { return device_memory_mib_[node.value()]; }  // 0: unknown

  // Positions in a list of all cells (kNone: the node does not report the resource), and in one of all devices; both
  // ascend with the node.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t at(NodeIndex node, ResourceIndex resource) const {
    const std::uint32_t offset = offsets_[kinds_[node.value()] * resources_ + resource.value()];
    return offset == kAbsent ? kNone : cell_begin_[node.value()] + offset;
  }
  std::size_t first_at(NodeIndex node) const { return cell_begin_[node.value()]; }
  std::span<const Amount> all() const { return amounts_; }  // by cell
  std::size_t at_device(NodeIndex node, std::int32_t device) const {
    return device_begin_[node.value()] + static_cast<std::size_t>(device);
  }
  std::size_t all_devices() const { return device_begin_.back(); }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  std::size_t resources_;
  std::vector<std::uint32_t> offsets_;   // within a node, by its kind x resource
  std::vector<std::size_t> kinds_;       // by node: those of one kind report the same resources in the same order
  std::vector<std::size_t> cell_begin_;  // by node, and the end
  std::vector<Amount> amounts_;          // by cell
  std::vector<std::size_t> device_begin_;
  std::vector<std::int64_t> device_memory_mib_;
  std::vector<std::int32_t> reported_devices_;  // by node
};

// What is taken of every node and device. Plain sums over the snapshot's own requests.
class Occupancy {
 public:
  Occupancy() = default;  // to be assigned
  explicit Occupancy(const Capacities& capacities);

  void put(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices);
  void take(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices);
  void put(const Occupancy& other);  // all that the other holds
  // Prefetches the data of a node that is needed soon: the data of all nodes exceeds the caches.
  void fetch(NodeIndex node) const {
    __builtin_prefetch(taken_.data() + capacities_->first_at(node), 1);
    __builtin_prefetch(device_taken_.data() + capacities_->at_device(node, 0), 1);
  }

  Amount taken(NodeIndex node, ResourceIndex resource) const;
  // By cell, and of resources that their nodes do not report.
  std::span<const Amount> taken() const { return taken_; }
  const std::map<std::pair<NodeIndex, ResourceIndex>, Amount>& taken_beyond() const { return beyond_; }
  DeviceUnits device_taken(NodeIndex node, std::int32_t device) const {
    return device_taken_[capacities_->at_device(node, device)];
  }

 private:
  void change(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices, const auto& changed);

  const Capacities* capacities_ = nullptr;
  std::vector<Amount> taken_;  // by cell of the capacities
  std::map<std::pair<NodeIndex, ResourceIndex>, Amount> beyond_;
  std::vector<DeviceUnits> device_taken_;
};

// A node that could not hold all present and all arriving pods at the same time. On any other node, every moment fits.
struct CrowdedNode {
  NodeIndex node;
  std::vector<PodIndex> residents;  // running (evicted or not) or releasing, ascending
  std::vector<const Placement*> arrivals;
};

// By queue, inner ones included: the usage of pods that run or are placed, and the non-preemptible part of it.
struct QueueUsage {
  Indexed<QueueIndex, QueueAmounts> all, non_preemptible;
  Indexed<OtherLimitIndex, Amount> limited;  // what counts against the limits on other resources
};

// The minResources of gangs whose pods could use the same nodes: of each kind the most that one of them asks for.
struct AskedTogether {
  std::vector<GangIndex> gangs;
  std::vector<NodeIndex> nodes;
  MicroGpu gpu = 0;
  std::map<ResourceIndex, Amount> amounts;
};

// What pods take of the nodes and add to the queues' usage, by when they do.
struct PodSums {
  Occupancy at_once;  // all present and all arriving pods together
  // Only if there are evictions: all that stays or is placed, the cluster once everything that leaves is gone.
  Occupancy end;
  // Only if a placed gang has minResources: all that stays or is moved.
  Occupancy settled;
  QueueUsage before, after;  // as the snapshot has it, and as the plan leaves it
};

struct Case {
  Case(const Snapshot& snapshot, const Problem& problem, const FairShares& shares, const Plan& plan, int threads);

  const Snapshot& snapshot;
  const Problem& problem;
  const FairShares& shares;
  const Plan& plan;
  std::vector<Violation> violations;

  Indexed<PodIndex, const Placement*> placement;       // null: none
  Indexed<PodIndex, const Eviction*> eviction;         // null: none
  std::vector<GangIndex> placed_gangs, evicted_gangs;  // with a placement, with an eviction (moves too); ascending
  Capacities capacities;
  bool has_min_resources = false;             // a placed gang has
  std::vector<AskedTogether> asked_together;  // by placed gangs; from check_min_resources on
  PodSums sums;
  std::vector<CrowdedNode> crowded_nodes;  // ascending
  std::vector<std::uint8_t>
      kept_out;  // by PodIndex: it leaves, and anti-affinity or a host port forbids it next to a pod that is placed

  const SnapshotPod& pod(PodIndex index) const { return snapshot.pods[index.value()]; }
  const SnapshotNode& node(NodeIndex index) const { return snapshot.nodes[index.value()]; }
  const PodSpec& spec(PodIndex index) const { return snapshot.pod_specs[pod(index).spec]; }
  const Gang& gang_of(PodIndex index) const { return problem.gangs[problem.pods[index].gang]; }

  bool runs(PodIndex index) const { return pod(index).status == PodStatus::kRunning; }
  bool succeeded(PodIndex index) const { return pod(index).status == PodStatus::kSucceeded; }
  bool stays(PodIndex index) const { return runs(index) && !eviction[index]; }
  bool is_moved(PodIndex index) const { return runs(index) && eviction[index] && placement[index]; }
  bool is_lost(PodIndex index) const { return runs(index) && eviction[index] && !placement[index]; }
  bool is_kept(PodIndex index) const { return stays(index) || is_moved(index); }
  bool is_new(PodIndex index) const { return pod(index).status == PodStatus::kPending && placement[index]; }
  bool leaves(PodIndex index) const { return pod(index).status == PodStatus::kReleasing || eviction[index]; }
  bool is_there_after(PodIndex index) const { return stays(index) || placement[index]; }
  NodeIndex node_before(PodIndex index) const { return problem.pods[index].node; }
  NodeIndex node_after(PodIndex index) const { return placement[index] ? placement[index]->node : node_before(index); }

  // The snapshot's own entry; null for a pod that is a gang by itself.
  const SnapshotGang* snapshot_gang(GangIndex gang) const;

  void object(Rule rule, std::string_view subject, std::string message);
  std::string quoted(PodIndex index) const;
  std::string quoted(GangIndex index) const;
};

// Whether enough of the pods that `counts(PodIndex)` accepts are present for the gang, through its subgroups: a leaf
// group needs its minimum of pods, an inner one needs its minimum of children that have theirs.
template <class Counts>
bool minimum_met(const Problem& problem, const Gang& gang, const Counts& counts) {
  if (gang.groups.size() == 1) return std::ranges::count_if(gang.pods, counts) >= problem.groups[gang.root].minimum;
  std::vector<std::int32_t> met(gang.groups.size(), 0);
  for (std::size_t i = gang.groups.size(); i-- > 0;) {  // children before parents
    const Group& group = problem.groups[gang.groups[i]];
    for (const PodIndex pod : group.pods) met[i] += counts(pod) ? 1 : 0;
    if (!group.parent.is_none() && met[i] >= group.minimum) ++met[group.parent.value() - gang.root.value()];
  }
  return met.front() >= problem.groups[gang.root].minimum;
}

// What one pod takes of one device of the node: f x MiB, m x 10^6, or all of its MiB x 10^6 (MiB 1 if unknown). All of
// it, too, for a memory request if the node's memory is unknown: rule Devices forbids that place anyway.
DeviceUnits device_units(const PodSpec& spec, std::int64_t device_memory_mib);
// Thousandths of a GPU of one unit of a resource that is a slice nvidia.com/mig-Ng.*: ceil(1000 N/7); else 0.
std::int64_t slice_thousandths(std::string_view resource_name);
// What the pod adds to its queue's usage on that node.
QueueAmounts usage_on(const Case& c, PodIndex pod, NodeIndex node);
// What a pod asks for of the resource.
Amount asked_of(const PodSpec& spec, ResourceIndex resource);
// Which of gpu, cpu and memory some pod of the gang asks for, whatever the pod's status.
std::array<bool, kQueueResources> asked_for(const Case& c, GangIndex gang);
// Whether the node's own properties permit the pod; empty: they do, else the objection.
std::string filter_objection(const PodSpec& spec, const SnapshotNode& node);
// The pods that stay, are moved or are placed, and the succeeded ones, make up the minimum: each pod that the gang
// loses is surplus.
bool has_minimum_after(const Case& c, const Gang& gang);
// The gang has run below its minimum for its grace period.
bool is_stale(const Case& c, GangIndex gang);
// Whether a label selector selects a pod with these labels.
bool selects(const LabelSelector& selector, const Labels& labels);
// Stale gangs that stay because disruption budgets do not let all of their running pods leave in addition to the stale
// gangs before them; ascending.
std::vector<GangIndex> stale_gangs_kept_by_budgets(const Case& c);
// What a gang, or a pod that is a gang by itself, sets; null if such a pod sets nothing.
const GangTerms* terms_of(const Snapshot& snapshot, const Problem& problem, GangIndex gang);
// How long it has waited: since its own instant, else (for a pod that is a gang by itself) since its pod's; else 0.
Nanoseconds waited_of(const Snapshot& snapshot, const Problem& problem, GangIndex gang);
// Whether a pod that was pending is placed.
bool gets_new_pod(const Case& c, GangIndex gang);

// Which gang is displaced for which, for one reason; each pair of gangs once. Evictions that name no gang are left out.
struct Displacement {
  GangIndex victim, claimant;
  friend auto operator<=>(const Displacement&, const Displacement&) = default;
};
std::vector<Displacement> displacements(const Case& c, EvictionReason reason);

// Whether the claimant, of which a pending pod is placed, may evict pods of the victim for this reason (preempt or
// reclaim), as far as queues, priorities, preemption policies and shares tell.
bool has_right(const Case& c, const Displacement& displacement, EvictionReason reason);
// Whether the pod has run for too short a time to be evicted for the claimant for this reason, and those of its gang
// that leave together with it, and have, are more than its surplus.
bool is_protected(const Case& c, PodIndex pod, std::span<const PodIndex> unit, const Displacement& displacement,
                  EvictionReason reason);
// has_right of reclaim.
bool may_reclaim(const Case& c, const Displacement& displacement);

// The queues, or ancestors, just below the common one of two leaves; none where these are the same, or one is none.
struct Sides {
  QueueIndex claimant, victim;
};
Sides sides_of(const Case& c, const Displacement& displacement);

// The bounds for the queues that reclaim after the plan, by QueueIndex and resource.
struct ReclaimDuties {
  Indexed<QueueIndex, std::array<bool, kQueueResources>> within_share, within_quota;
};
ReclaimDuties reclaim_duties(const Case& c);

// Whether what is free or freed covers the minResources of all placed gangs; `room` holds all but new pods. After
// check_min_resources.
bool min_resources_are_free(const Case& c, const Occupancy& occupancy);
// Whether the two nodes are in one domain of the level: both have all labels of its topology, and the same values down
// to it.
bool in_one_domain(const Case& c, NodeIndex a, NodeIndex b, TopologyLevelIndex level);
// The gang's group of the pod and all above it.
std::vector<GroupIndex> groups_above(const Case& c, PodIndex pod);
std::vector<PodIndex> pods_below(const Problem& problem, GroupIndex group);

// "1500m", "1073741824 bytes", "0.25"; by resource, or by position in QueueAmounts.
std::string amount_text(ResourceIndex resource, Amount amount);
std::string queue_amount_text(std::size_t resource, Amount amount);
std::string_view queue_resource_name(std::size_t resource);

// Faults that keep the plan from being read at all: indices out of range, lists out of order. Rules Plan, Node,
// Devices.
std::vector<Violation> broken_form(const Snapshot& snapshot, const Problem& problem, const Plan& plan);

// The rules. Each reports its violations to the case.
void check_plan_form(Case& c);
void check_actions(Case& c);
void check_queue_exists(Case& c);
void check_node(Case& c);
void check_anti_affinity(Case& c);  // rule Node; fills in kept_out
void check_host_ports(Case& c);     // fills in kept_out, too
void check_inter_pod(Case& c);      // rules Affinity and Spread
void check_device_counts(Case& c);  // rule Devices
void check_capacity(Case& c);
void check_devices(Case& c);
void check_after(Case& c);
void check_gang(Case& c);
void check_min_resources(Case& c);
void check_topology(Case& c);
void check_timeout(Case& c);
void check_reserved(Case& c);
void check_limit(Case& c);
void check_quota(Case& c);
void check_who(Case& c);
void check_whole_gangs(Case& c);
void check_preempt(Case& c);
void check_reclaim(Case& c);
void check_consolidate(Case& c);
void check_stale(Case& c);
void check_price(Case& c);
void check_disruption_budgets(Case& c);
void check_not_in_vain(Case& c, std::size_t most);  // ends once there are so many violations

// Whether rules Affinity and Spread hold for all other placements if these pods had stayed where they ran.
bool keeps_inter_pod(Case& c, std::span<const PodIndex> back);

// The victim has run the minimum time that protects it from evictions of this kind, or may count as surplus.
void check_protection(Case& c, EvictionReason reason, Rule rule);

}  // namespace muster::referee
