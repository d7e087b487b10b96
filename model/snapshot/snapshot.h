// The snapshot as the contract `muster/v1` states it (docs/format.md): names, not indices, yet quantities already
// exact.
//
// Shape: plain data in the order of the line. Every string_view points into `text`, which the snapshot owns, so a
// Snapshot may outlive the line that it was read from. Defaults of the contract are filled in by the reader, except
// those that depend on other objects (a gang's priority from its class, `minMember` from its pods): `build_problem`
// does these. Units: cpu in thousandths of a core, memory in bytes, all other resources in their own unit; durations
// and instants in whole nanoseconds; device memory in MiB; fractions of a device in millionths.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/block_vector.h"
#include "model/base/index.h"
#include "model/snapshot/unread.h"

namespace muster {

using Amount = std::int64_t;       // of a resource, in that resource's unit
using Nanoseconds = std::int64_t;  // a duration, or an instant since the epoch

inline constexpr Nanoseconds kNanosecondsPerSecond = 1'000'000'000;

// Different resources of one snapshot, host ports that can conflict included; every class of pods and of nodes has one
// number for each.
inline constexpr std::size_t kMostResources = 1024;

enum class GpuRequestKind : std::uint8_t { kNone, kWhole, kFraction, kMemory };

// Three resources have a fixed index; the rest follow in order of first appearance.
inline constexpr ResourceIndex kCpu{0};
inline constexpr ResourceIndex kMemory{1};
inline constexpr ResourceIndex kPods{2};

// A node that sets no limit on pods takes this many, as the kubelet does.
inline constexpr Amount kDefaultNodePods = 110;

// Owns characters; views of them stay valid when the pool grows or is moved. A copy shares what is there, so that views
// stay valid while either pool lives; what either stores later is its own.
class StringPool {
 public:
  StringPool() = default;
  StringPool(const StringPool& other) : chunks_(other.chunks_) {}
  StringPool& operator=(const StringPool& other) { return *this = StringPool(other); }
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;
  ~StringPool() = default;

  std::string_view store(std::string_view text);
  // Takes over what another pool owns; views of it stay valid.
  void take(StringPool&& other);

 private:
  std::vector<std::shared_ptr<char[]>> chunks_;
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
};

struct ResourceAmount {
  ResourceIndex resource;
  Amount amount = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;  // sorted by key, keys distinct

enum class TaintEffect : std::uint8_t { kNoSchedule, kNoExecute, kPreferNoSchedule };

struct Taint {
  std::string_view key, value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string_view key, value;
  bool exists = false;                // operator Exists; else Equal
  std::optional<TaintEffect> effect;  // none: any
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

enum class SelectorOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

struct SelectorRequirement {
  std::string_view key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<std::string_view> values;
  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

// One term of a node affinity. A term without any requirement matches no node. `match_fields` knows `metadata.name`.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions, match_fields;
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct PreferredNodeTerm {
  std::int32_t weight = 1;  // 1..100
  NodeSelectorTerm term;
  friend bool operator==(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};

struct NodeAffinity {
  std::optional<std::vector<NodeSelectorTerm>> required;  // any term suffices
  std::vector<PreferredNodeTerm> preferred;
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct LabelSelector {  // matchLabels are `In` requirements with one value; an empty selector matches everything
  std::vector<SelectorRequirement> requirements;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// A requirement of a pod's affinity or anti-affinity on other pods in its domain (value of `topology_key`).
// `match_gang`: the pods of its own gang match, and nothing else is required. Otherwise pods match that `selector`
// selects (an absent one selects none) in `namespaces` and in the namespaces whose labels `namespace_selector` selects;
// in the pod's own namespace if both are empty.
struct PodTerm {
  std::string_view topology_key;
  bool match_gang = false;
  std::optional<LabelSelector> selector;
  std::vector<std::string_view> namespaces;
  bool all_namespaces = false;  // an empty namespaceSelector
  std::optional<LabelSelector> namespace_selector;
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

struct PreferredPodTerm {
  std::int32_t weight = 1;  // 1..100
  PodTerm term;
  friend bool operator==(const PreferredPodTerm&, const PreferredPodTerm&) = default;
};

enum class Unsatisfiable : std::uint8_t { kDoNotSchedule, kScheduleAnyway };

// One of topologySpreadConstraints. `match_label_keys`: the pod's own values of these labels are asked for, too.
struct SpreadConstraint {
  std::string_view topology_key;
  std::int32_t max_skew = 1, min_domains = 1;
  Unsatisfiable when_unsatisfiable = Unsatisfiable::kDoNotSchedule;
  std::optional<LabelSelector> selector;  // an absent one selects no pod
  std::vector<std::string_view> match_label_keys;
  bool honors_affinity = true, honors_taints = false;  // nodes that these exclude do not count
  friend bool operator==(const SpreadConstraint&, const SpreadConstraint&) = default;
};

enum class Protocol : std::uint8_t { kTcp, kUdp, kSctp };

// A port of the node itself. An empty address stands for all of them (0.0.0.0).
struct HostPort {
  std::int32_t port = 0;  // 1..65'535
  Protocol protocol = Protocol::kTcp;
  std::string_view address;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

struct GpuRequest {
  GpuRequestKind kind = GpuRequestKind::kNone;
  std::int32_t devices = 0;  // distinct devices of one node; 0 only with kNone
  std::int64_t share = 0;    // kFraction: millionths of each device (1..1'000'000); kMemory: MiB of each, rounded up
  friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

// The common part of pods of one shape. The reader keeps one for all pods that are equal in it.
struct PodSpec {
  std::vector<ResourceAmount> resources;  // sorted by resource, without zeros; `pods` is 1 unless it was named
  GpuRequest gpu;
  std::vector<std::string_view> gpu_models;  // sorted; empty: any
  Labels node_selector;
  NodeAffinity node_affinity;
  std::optional<std::vector<NodeSelectorTerm>> volume_terms;  // of its volumes; any term suffices. Spread ignores them
  std::vector<Toleration> tolerations;
  std::vector<PodTerm> anti_affinity, affinity;  // required
  std::vector<PreferredPodTerm> preferred_anti_affinity, preferred_affinity;
  std::vector<SpreadConstraint> topology_spread;
  std::vector<HostPort> host_ports;  // sorted, distinct
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

enum class PodStatus : std::uint8_t { kPending, kRunning, kReleasing, kGated, kSucceeded, kFailed };

enum class PreemptionPolicy : std::uint8_t { kPreemptLowerPriority, kNever };

inline constexpr double kMostWeight = 1e12;  // of gangs: the values of the levels are sums of products with it

// Terms that a gang, or a pod that is a gang by itself, may set.
struct GangTerms {
  std::string_view queue = "default";
  std::optional<std::string_view> priority_class;
  std::optional<std::int32_t> priority;
  std::optional<bool> preemptible;
  std::optional<PreemptionPolicy> preemption_policy;
  std::optional<Nanoseconds> created;
  std::optional<Nanoseconds> timeout;
  std::optional<Nanoseconds> expected_duration;  // from its start, in one go; more than 0
  std::optional<Nanoseconds> expected_end;       // an instant, of one that runs
  std::optional<Nanoseconds> checkpointed;       // an instant: what was done until then is kept if it is evicted
  double weight = 1;                             // at most kMostWeight
};

// The scheduler of a pod that names none, as in Kubernetes.
inline constexpr std::string_view kDefaultScheduler = "default-scheduler";

// The scheduler that a pod asks for.
struct PodScheduler {
  std::string_view name;       // empty: kDefaultScheduler
  bool binds_volumes = false;  // it binds a claim of the pod to a volume when it binds the pod
};

// What is known of a pod for people. No plan depends on it.
struct PodNotes {
  std::string_view held;   // why the importer holds the pod; empty: it does not. Then gated
  std::string_view owner;  // the outermost object that owns the pod, `Job/train`, of its namespace; empty: unknown
};

struct SnapshotPod {
  std::string_view name;
  std::string_view gang;      // empty: a gang by itself, as `own_gang` defines
  std::string_view subgroup;  // empty: none
  std::string_view namespace_name;
  PodSpecIndex spec;
  PodStatus status = PodStatus::kPending;
  std::string_view node;              // empty: none
  std::vector<std::int32_t> devices;  // where it runs; build_problem fills it in if the line does not give it
  std::optional<Nanoseconds> started, created;
  std::string_view nominated_node;  // empty: none
  PodNotes notes;
  PodScheduler scheduler;
  Labels labels;
  std::int32_t own_gang = -1;  // position in Snapshot::own_gang_terms, -1: none given
};

inline std::string_view scheduler_of(const SnapshotPod& pod) {
  return pod.scheduler.name.empty() ? kDefaultScheduler : pod.scheduler.name;
}
struct SnapshotNamespace {
  std::string_view name;
  Labels labels;
};

struct SnapshotNode {
  std::string_view name;
  std::vector<ResourceAmount> resources;  // sorted by resource; `pods` always there
  std::int32_t gpu_count = 0;
  std::int64_t gpu_memory_mib = 0;        // of one device, whole MiB; 0: unknown
  std::string_view gpu_model;             // empty: unknown
  std::vector<std::string_view> gpu_ids;  // empty, or gpu_count of them
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
};

inline constexpr Amount kUnlimited = -1;

// Quota and limit of one resource. GPUs in millionths of a device, cpu in thousandths, memory in bytes; kUnlimited.
struct QueueResource {
  Amount quota = kUnlimited;
  Amount limit = kUnlimited;
  double weight = 1;
  std::optional<double> usage;  // on average over the past, in the unit of `quota`; none: unknown
};

// Quota and limit of any other resource, in its own unit; kUnlimited.
struct OtherQueueResource {
  ResourceIndex resource;
  Amount quota = kUnlimited;  // no rule and no level counts it, see tell_uncounted_quotas
  Amount limit = kUnlimited;
  friend bool operator==(const OtherQueueResource&, const OtherQueueResource&) = default;
};

struct SnapshotQueue {
  std::string_view name;
  std::string_view parent;  // empty: a root
  std::int32_t priority = 100;
  QueueResource gpu, cpu, memory;
  std::vector<OtherQueueResource> other_resources;                      // sorted by resource, distinct
  std::optional<Nanoseconds> preempt_min_runtime, reclaim_min_runtime;  // none: the parent's
  bool reclaimable = true;  // whether gangs of other queues may reclaim from it
};

// From this priority on, gangs are not preemptible unless they say so.
inline constexpr std::int32_t kFirstNonPreemptiblePriority = 100;

struct SnapshotPriorityClass {
  std::string_view name;
  std::int32_t value = 0;
  std::optional<bool> preemptible;
  std::optional<PreemptionPolicy> preemption_policy;
};

// A chain of levels over the nodes that have all of its labels.
struct SnapshotTopology {
  std::string_view name;                 // empty: the snapshot has one and does not name it
  std::vector<std::string_view> levels;  // label keys, coarse to fine
  friend bool operator==(const SnapshotTopology&, const SnapshotTopology&) = default;
};

struct TopologyRequest {
  std::string_view required, preferred;  // level names (label keys); empty: none
  std::string_view topology;             // the one that the levels are of; empty: all that have them
};

// The number of running pods, of those in its namespace that `selector` selects, that may be evicted or moved; an
// absent selector selects none.
struct SnapshotDisruptionBudget {
  std::string_view name, namespace_name;
  std::optional<LabelSelector> selector;
  std::int64_t allowed = 0;
  bool exclusive = false;  // those of its pods that another budget also selects are never evicted
};

struct SnapshotSubgroup {
  std::string_view name;
  std::string_view parent;  // empty: the gang itself
  std::optional<std::int32_t> min_member, min_subgroups;
  TopologyRequest topology;
};

inline constexpr Nanoseconds kNever = -1;  // of a duration after which something happens

// How the running pods of a gang that is preemptible may leave.
enum class Disruption : std::uint8_t {
  kPods,     // down to the minimum one by one, or all of them
  kSurplus,  // down to the minimum; what makes it up stays, and is not moved
  kWhole     // all of them or none; none is moved
};

struct SnapshotGang {
  std::string_view name;
  GangTerms terms;
  std::optional<std::int32_t> min_member, min_subgroups;
  std::vector<SnapshotSubgroup> subgroups;
  std::vector<ResourceAmount> min_resources;
  std::int64_t min_resources_gpu = 0;  // millionths of a device; asked for as `gpu`
  bool has_min_resources = false;
  TopologyRequest topology;
  Disruption disruption = Disruption::kPods;
  Nanoseconds staleness_grace_period = 60 * kNanosecondsPerSecond;  // kNever
  std::optional<Nanoseconds> stale_since;
};

struct Actions {
  bool place = true, consolidate = true, reclaim = true, preempt = true, stale = true;
  friend bool operator==(const Actions&, const Actions&) = default;
};

enum class PlacementPolicy : std::uint8_t { kBinpack, kSpread };

struct ExpectedPod {
  PodSpecIndex spec;
  double weight = 1;
};

// How long the gangs of one size took that have finished, of one queue or of all.
struct DurationHistory {
  std::string_view queue;         // empty: all
  std::int64_t from = 1, to = 0;  // GPUs of the gang's minimum; `to` 0: no end
  std::int64_t count = 0;
  Nanoseconds mean = 0;
};

enum class SeniorityRule : std::uint8_t { kExpectedDuration, kWaited };

// Decisions that look beyond one cycle; see docs/semantics.md, "Over time".
struct OverTime {
  SeniorityRule order = SeniorityRule::kExpectedDuration;
  Nanoseconds reserve_after = 24 * 3600 * kNanosecondsPerSecond;  // that the head of a queue has waited; kNever
  std::int32_t holds = 1;                                         // gangs at most for which nodes are held
  double usage_factor = 1;               // how much past usage changes the weights of queues; 0: not at all
  std::optional<double> eviction_price;  // of lost work, in work waited; none: evictions cost no more than levels say
  std::optional<std::vector<DurationHistory>> expected_durations;  // by disjoint sizes of each queue
};

struct Policy {
  Actions actions;
  PlacementPolicy placement = PlacementPolicy::kBinpack;
  bool whole_nodes = true;  // compares the levels `wholeNodes` to `cpuOnGpuNodes`, with kBinpack
  bool non_preemptible_within_quota = true;
  std::optional<std::int64_t> max_moves;
  std::vector<LabelSelector> protect;        // pods that one of these selects are never evicted or moved
  std::vector<std::string_view> schedulers;  // pods of these schedulers are planned; empty: all pods are
  Nanoseconds aging_interval = 0;            // 0: off
  std::optional<std::vector<ExpectedPod>> expected_workload;
  OverTime over_time;
  std::optional<Nanoseconds> budget;

  bool has_whole_nodes() const { return whole_nodes && placement == PlacementPolicy::kBinpack; }
};

// What gangs and pods name, and what has no state: the objects of a cluster's set-up.
struct SnapshotDefinitions {
  std::vector<SnapshotTopology> topologies;
  std::vector<SnapshotNamespace> namespaces;  // the namespaces with known labels
  std::vector<SnapshotPriorityClass> priority_classes;
};

struct SnapshotLinks;

struct Snapshot {
  std::string_view id;
  Nanoseconds time = 0;
  Policy policy;
  SnapshotDefinitions definitions;
  std::vector<SnapshotNode> nodes;
  std::vector<SnapshotQueue> queues;  // as the line has them; empty means the one queue `default`
  std::vector<SnapshotGang> gangs;
  BlockVector<SnapshotPod> pods;
  std::vector<SnapshotDisruptionBudget> disruption_budgets;
  std::vector<GangTerms> own_gang_terms;  // of pods that are gangs by themselves and set any of them
  Indexed<PodSpecIndex, PodSpec> pod_specs;
  Indexed<ResourceIndex, std::string_view> resource_names;  // kCpu, kMemory, kPods come first
  StringPool text;
  Anomalies anomalies;
  std::shared_ptr<const SnapshotLinks> links;  // of a kept snapshot, see model/snapshot/links.h; else none
};

// A level of one of the snapshot's topologies, by positions.
struct LevelPlace {
  std::size_t topology = 0, level = 0;
  friend bool operator==(const LevelPlace&, const LevelPlace&) = default;
};

// Where the level is that a request names: in the topology of that name, or, if `topology` is empty, in all that have
// it, in their order. Empty: nowhere. Cost: O(levels).
std::vector<LevelPlace> places_of_level(const SnapshotDefinitions& definitions, std::string_view level,
                                        std::string_view topology);

}  // namespace muster
