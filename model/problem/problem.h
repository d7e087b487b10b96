// The immutable problem: the snapshot with indices in place of names, and equal things grouped.
//
// Built once per snapshot by build_problem and only read from then on, by any number of threads. Pod and node indices
// are positions in the snapshot's lists, so plans and problems use the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/error_code.h"
#include "model/base/index.h"
#include "model/problem/disruption_budgets.h"
#include "model/snapshot/snapshot.h"

namespace muster {

using Work = std::int64_t;      // thousandths of a GPU; see model/problem/work.h
using MicroGpu = std::int64_t;  // millionths of a device: the unit of a queue's GPU usage, quota and limit

// Capacity of one device: its whole MiB x 10^6 (1 x 10^6 if its memory is unknown). A fraction of f millionths takes f
// x MiB of it, a memory request of m MiB takes m x 10^6, a whole user all of it.
using DeviceUnits = std::int64_t;

// Nodes that are equal in all that a placement depends on when they are empty: capacity, devices, filters, topology
// domains.
struct NodeClass {
  std::vector<Amount> capacity;  // by ResourceIndex
  std::int32_t device_count = 0;
  std::int64_t device_memory_mib = 0;  // 0: unknown
  ModelIndex model;                    // none: unknown
  bool cordoned = false;
  std::vector<NodeIndex> nodes;  // ascending; empty if the pods on all of them exceed what they report
  // Rule Exceeded, see model/problem/exceeded.h: `capacity` and `device_count` are what the pods on the nodes take.
  bool devices_closed = false;  // more devices are in use than the nodes report
  NodeClassIndex reported;      // the class with what the nodes report; none if nothing is exceeded
  GangIndex held_for;           // the gang for which the nodes are held (model/problem/exceeded.h); none: they are not
  DeviceUnits device_capacity() const { return (device_memory_mib == 0 ? 1 : device_memory_mib) * 1'000'000; }
};

struct Node {
  NodeClassIndex node_class;
  std::vector<DomainIndex> domains;  // by TopologyLevelIndex; none on the levels of topologies that it is outside of
};

// A topology spread constraint that a pod has, and whether it counts itself.
struct OwnedSpread {
  SpreadIndex spread;
  bool counts_itself = false;
  friend bool operator==(const OwnedSpread&, const OwnedSpread&) = default;
};

// A pod's preferred term about the pods in its domain, and whether it matches the term itself.
struct OwnedPreferredTerm {
  PreferredTermIndex preferred_term;
  bool counts_itself = false;
  friend bool operator==(const OwnedPreferredTerm&, const OwnedPreferredTerm&) = default;
};

// What a class of pods prefers: it decides the value of a place, never whether a pod fits there.
struct PodPreferences {
  // By NodeClassIndex: sum of the weights of the preferred terms met, and of PreferNoSchedule taints not tolerated.
  std::vector<std::int32_t> preferred_weight, untolerated_soft_taints;
  std::vector<OwnedPreferredTerm> preferred_owned;
  std::vector<PreferredTermIndex> preferred_matched;  // ascending
};

// Pods that are equal in all that determines where they fit and the value of their place: request, filters, affinities.
struct PodClass {
  PodSpecIndex spec;            // of one of them
  std::vector<Amount> request;  // by ResourceIndex; `pods` included
  GpuRequest gpu;
  Work work = 0;                    // without the gang's weight
  bool counts_as_gpu = false;       // whole devices, shares or MIG slices; else it is cpu-only work
  MicroGpu smallest_gpu_usage = 0;  // of one pod; a memory request on the smallest known device that it accepts
  MicroGpu mig_gpu_usage = 0;       // the part of it that is MIG slices
  // By NodeClassIndex: every filter (cordon, taints, selector, affinity, models) lets it through.
  std::vector<bool> allowed;
  std::vector<AntiAffinityIndex> anti_affinity_owned, anti_affinity_matched;
  AffinityIndex affinity;                       // all its required terms; none: it has none
  std::vector<AffinityIndex> affinity_matched;  // ascending
  std::vector<OwnedSpread> spread_owned;
  std::vector<SpreadIndex> spread_matched;  // ascending
  PodPreferences preferences;
  // Whether rules other than capacity relate its place to the places of other pods.
  bool has_inter_pod_rules() const {
    return !anti_affinity_owned.empty() || !anti_affinity_matched.empty() || has_ordered_rules();
  }
  // The same of rules that depend on the order in which pods are bound.
  bool has_ordered_rules() const {
    return !affinity.is_none() || !affinity_matched.empty() || !spread_owned.empty() || !spread_matched.empty();
  }
};

// The domain of each node by one label key. Terms of the same key share it.
class DomainMap {
 public:
  DomainMap() = default;
  explicit DomainMap(Indexed<NodeIndex, DomainIndex> domains)
      : domains_(std::make_shared<const Indexed<NodeIndex, DomainIndex>>(std::move(domains))) {}
  DomainIndex operator[](NodeIndex node) const { return (*domains_)[node]; }
  std::size_t size() const { return domains_ ? domains_->size() : 0; }

 private:
  std::shared_ptr<const Indexed<NodeIndex, DomainIndex>> domains_;
};

// "No two pods, of which one owns the term and the other matches it, in one domain." A `match_gang` term is one term
// for each gang that uses it.
struct AntiAffinity {
  DomainMap domain_of;  // by the term's topology key, numbered from 0; none if the node lacks the label
  std::size_t domain_count = 0;
};

// Required pod affinity: all terms of a pod together. A pod matches if it matches every term, and each term's domain
// has to hold a matching pod. If no pod matches in any domain, a pod that matches itself may be the first.
struct Affinity {
  std::vector<AntiAffinity> terms;  // their domains
};

// A topology spread constraint with DoNotSchedule, shared by pods with the same namespace, selector and eligible nodes:
// pods that match are counted by domain.
struct Spread {
  DomainMap domain_of;           // none: the node is not eligible, no pod that has the constraint goes there
  std::size_t domain_count = 0;  // eligible ones
  std::int32_t max_skew = 1, min_domains = 1;
};

// A preferred term of pod affinity (kNear) or anti-affinity (kApart), or a spread with ScheduleAnyway (kEven), shared
// by all pods with equal terms: pods that match are counted by domain.
struct PreferredTerm {
  enum class Kind : std::uint8_t { kNear, kApart, kEven };
  Kind kind = Kind::kNear;
  AntiAffinity domains;       // kEven: none if the node is not eligible
  std::int32_t weight = 1;    // hundredths of the work, of kNear and kApart
  std::int32_t max_skew = 1;  // of kEven
};

struct Pod {
  PodClassIndex pod_class;
  GangIndex gang;
  GroupIndex group;  // the leaf group that it counts in
  PodStatus status = PodStatus::kPending;
  NodeIndex node;                                      // none unless it is running or releasing
  std::uint32_t devices_begin = 0, devices_count = 0;  // in ListStorage::running_devices
  NodeIndex nominated_node;
  Work weighted_work = 0;        // work x gang weight, rounded
  std::int64_t run_seconds = 1;  // whole seconds that it has run, at least 1
  Nanoseconds run_time = 0;      // as it is, for minimum run times
};

// A node of a gang's tree. A gang without subgroups is one leaf group.
struct Group {
  GangIndex gang;
  GroupIndex parent;  // none for the root
  std::vector<GroupIndex> children;
  std::span<const PodIndex> pods;  // leaf groups only: all its pods, whatever their status, ascending
  // How many of its pods (leaf) or children (inner) it needs. "All its pods" is resolved to a number: pods that are
  // neither failed nor releasing.
  std::int32_t minimum = 0;
  TopologyLevelIndex required_level, preferred_level;
  bool is_leaf() const { return children.empty(); }
};

// What a gang's age and expected duration mean for its turn (docs/semantics.md, "Over time").
struct GangTimes {
  std::int64_t waited_seconds = 0;  // whole seconds since `created`, at least 0
  bool timed_out = false;
  Nanoseconds expected_duration = 0;  // from its start; 0: the snapshot says nothing about durations
  Nanoseconds expected_end = 0;       // an instant, of a gang that runs, where durations are known
  std::int64_t gpus = 0;              // of its minimum, rounded up, at least 1; where durations are known
  std::int64_t unsaved_seconds = std::numeric_limits<std::int64_t>::max();  // since its last checkpoint
  std::int64_t seniority = 0;      // what each unit of its work is worth in level `seniority`
  bool has_turn = false;           // it waits, and is one of those that fill what is left of a quota
  GangIndex kept_back_for;         // the gang of its queue that it would hold up; none: it may start
  Nanoseconds expected_start = 0;  // an instant, of a gang for which others may be kept back
  bool may_start() const { return !timed_out && kept_back_for.is_none(); }
};

// What has to be free before a pod of the gang starts.
struct MinResourceAmounts {
  std::vector<Amount> amounts;  // by ResourceIndex; empty: none
  MicroGpu gpu = 0;
};

struct Gang {
  std::string_view name;
  QueueIndex queue;  // none: the queue does not exist
  bool queue_is_leaf = false;
  std::int32_t priority = 0;  // effective: aging included
  std::uint32_t rank = 0;     // how many of ObjectiveTerms::priorities are higher: if the gang's is one, its position
  bool preemptible = true;
  bool leaves_whole = false;  // if it is preemptible: all pods that run or none; none is moved
  PreemptionPolicy preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  GroupIndex root;
  IndexRange<GroupIndex> groups;   // parents before children; the root first
  std::span<const PodIndex> pods;  // ascending
  double weight = 1;
  MinResourceAmounts min_resources;
  GangTimes times;
  // Below its minimum for at least its grace period: it must be completed or evicted. False if disruption budgets keep
  // it.
  bool stale = false;

  bool asks_for_min_resources() const { return !min_resources.amounts.empty() || min_resources.gpu > 0; }
};

// Quota, limit and shares of gpu (MicroGpu), cpu and memory, in this order everywhere.
inline constexpr std::size_t kQueueResources = 3;
inline constexpr std::size_t kQueueGpu = 0, kQueueCpu = 1, kQueueMemory = 2;
using QueueAmounts = std::array<Amount, kQueueResources>;

// The limit of a queue on a resource other than these.
struct OtherLimit {
  QueueIndex queue;
  ResourceIndex resource;
  Amount limit = 0;
};
using OtherLimitIndex = Index<struct OtherLimitTag>;

struct Queue {
  std::string_view name;
  QueueIndex parent;                  // none: a root
  std::vector<QueueIndex> children;   // in the snapshot's order
  std::vector<QueueIndex> ancestors;  // itself first, then up to its root
  std::int32_t priority = 100;
  QueueAmounts quota{}, limit{};  // kUnlimited
  std::array<double, kQueueResources> weight{};
  std::vector<OtherLimitIndex> other_limits;  // its own first, then those of the queues above it, up to its root
  Nanoseconds preempt_min_runtime = 0, reclaim_min_runtime = 0;  // inherited if the snapshot does not set it
  bool reclaimable = true;
  // Counts as not preemptible: what runs of minimums that never leave, of gangs that are preemptible; also of the
  // queues below.
  QueueAmounts core_usage{};
  bool is_leaf() const { return children.empty(); }
};

struct TopologyDomain {
  TopologyLevelIndex level;
  std::vector<NodeIndex> nodes;  // ascending
};

// One class of the expected workload, for the fragmentation level. `weight` in millionths.
struct ExpectedClass {
  PodClassIndex pod_class;
  std::int64_t weight_millionths = 0;
  // Of the class; copied here for loops over all nodes.
  GpuRequest gpu;
  Amount cpu = 0, memory = 0, pods = 0;
  bool asks_more = false;  // of other resources
};

// Of one or more classes of nodes: which classes of the expected workload that ask for devices may go there.
struct ExpectedThere {
  std::vector<std::uint32_t> classes;  // positions in ObjectiveTerms::expected_workload, ascending
  std::int64_t weight_of_others = 0;   // millionths
};

// Of the resources that host ports are, for people and in codes.
inline constexpr std::string_view kHostPortResource = "hostPorts";

// The rules and preferences that relate the places of pods to each other. Pod classes refer to them by index.
struct InterPodRules {
  Indexed<AntiAffinityIndex, AntiAffinity> anti_affinities;
  Indexed<AffinityIndex, Affinity> affinities;
  Indexed<SpreadIndex, Spread> spreads;
  Indexed<PreferredTermIndex, PreferredTerm> preferred_terms;
};

struct TopologyLevel {
  std::string_view label;
  // Where the snapshot has it. A joint level is one of several topologies, for requests that name no topology: a node
  // counts in the first of them that it lies in.
  std::vector<LevelPlace> places;
  bool is_joint() const { return places.size() > 1; }
};

// A domain lies within one domain of each coarser level of its own topology. Domains of different topologies may cross.
struct Topology {
  Indexed<TopologyLevelIndex, TopologyLevel> levels;  // by topology, coarse to fine; after them the joint ones
  Indexed<DomainIndex, TopologyDomain> domains;
  std::size_t own_level_count = 0;  // of levels that are not joint

  // The levels of the topologies themselves: what `wholeDomains` and `gangDomains` are counted by.
  IndexRange<TopologyLevelIndex> own_levels() const { return IndexRange<TopologyLevelIndex>(own_level_count); }
  bool is_own(TopologyLevelIndex level) const { return level.value() < own_level_count; }
  // Whether the levels are the same, or `coarse` is a coarser one of the same topology.
  bool covers(TopologyLevelIndex coarse, TopologyLevelIndex fine) const {
    if (coarse == fine) return true;
    return is_own(coarse) && is_own(fine) && coarse < fine &&
           levels[coarse].places.front().topology == levels[fine].places.front().topology;
  }
};

// What the levels of the objective are counted by.
struct ObjectiveTerms {
  std::vector<std::int32_t>
      priorities;  // every effective priority of a gang with a pod that runs or is pending, highest first
  // Of these, those at which a gang runs that a waiting one of its queue may preempt; and those at which one runs that
  // could be evicted, by reclaim too, as far as queues and preemption policies tell.
  std::vector<std::int32_t> preemptible, evictable;
  std::vector<ExpectedClass> expected_workload;
  std::vector<ExpectedThere> expected_there;
  Indexed<NodeClassIndex, std::uint32_t> expected_there_of;  // a position in expected_there
  // GPUs x 1000 of the cluster for work: devices and MIG slices of Problem::total; 1000 if there is none.
  Work total_gpu_work = 1000;
};

// The lists that the spans of pods, gangs and groups are parts of, and the one that queues refer to.
struct ListStorage {
  std::vector<std::int32_t> running_devices;          // device positions on their node
  std::vector<PodIndex> pods_by_gang, pods_by_group;  // of leaf groups
  Indexed<OtherLimitIndex, OtherLimit> other_limits;  // of all queues, in their order
};

struct Problem {
  // Movable but not copyable: the lists of gangs and groups point into its own members.
  Problem() = default;
  Problem(Problem&&) = default;
  Problem& operator=(Problem&&) = default;

  const Snapshot* snapshot = nullptr;  // outlives the problem

  std::size_t resource_count = 3;
  Indexed<NodeIndex, Node> nodes;
  Indexed<NodeClassIndex, NodeClass> node_classes;
  Indexed<PodIndex, Pod> pods;
  Indexed<PodClassIndex, PodClass> pod_classes;
  Indexed<GangIndex, Gang> gangs;
  Indexed<GroupIndex, Group> groups;
  ListStorage lists;
  Indexed<QueueIndex, Queue> queues;  // parents may come after children
  Topology topology;
  InterPodRules inter_pod;
  DisruptionBudgets disruption_budgets;
  ObjectiveTerms objective;
  // The cluster's total: nodes that are not cordoned, and what the running (and not releasing) pods hold on cordoned
  // ones.
  QueueAmounts total{};

  std::span<const std::int32_t> devices_of(PodIndex pod) const {
    const Pod& p = pods[pod];
    return {lists.running_devices.data() + p.devices_begin, p.devices_count};
  }
  // Host ports are resources beyond those of the snapshot, of which each node has one.
  std::size_t host_port_count() const { return resource_count - snapshot->resource_names.size(); }
  // The name of the resource; all host ports have one.
  std::string_view resource_name(ResourceIndex resource) const {
    return is_host_port(resource) ? kHostPortResource : snapshot->resource_names[resource];
  }
  bool is_host_port(ResourceIndex resource) const { return resource.value() >= resource_count - host_port_count(); }
  // Whether any pod depends on which pods are bound before it.
  bool has_ordered_rules() const { return !inter_pod.affinities.empty() || !inter_pod.spreads.empty(); }
  bool has_inter_pod_rules() const { return !inter_pod.anti_affinities.empty() || has_ordered_rules(); }
  const NodeClass& class_of(NodeIndex node) const { return node_classes[nodes[node].node_class]; }
  const PodClass& class_of(PodIndex pod) const { return pod_classes[pods[pod].pod_class]; }
  DeviceUnits device_capacity(NodeIndex node) const { return class_of(node).device_capacity(); }
};

// The queues without a parent, in the snapshot's order. Cost: O(queues).
inline std::vector<QueueIndex> root_queues(const Problem& problem) {
  std::vector<QueueIndex> roots;
  for (const QueueIndex queue : problem.queues.indices()) {
    if (problem.queues[queue].parent.is_none()) roots.push_back(queue);
  }
  return roots;
}

// What one sharer of the request takes of one device of the node: f x MiB or m x 10^6; all of it for a whole user.
// A memory request on a node of unknown memory takes more than a device has.
DeviceUnits share_units(const GpuRequest& gpu, const NodeClass& node_class);
inline DeviceUnits share_units(const PodClass& pod_class, const NodeClass& node_class) {
  return share_units(pod_class.gpu, node_class);
}

// What one pod of the class adds to a queue's usage on a node of the class: gpu in millionths of a device (a memory
// request's part is rounded to the nearest millionth, halves up; MIG slices are thousands of ceil(1000 N/7)), cpu,
// memory.
QueueAmounts queue_usage(const PodClass& pod_class, const NodeClass& node_class);

// Thousandths of a GPU of one unit of the resource if it is a slice `nvidia.com/mig-Ng.*`: ceil(1000 N/7); else 0.
Work mig_slice_work(std::string_view resource_name);

}  // namespace muster
