// The stages of build_problem, in their order. Internal to it: each stage fills in its part of the problem or returns
// an error.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"
#include "model/base/interning.h"
#include "model/problem/problem.h"
#include "model/problem/work.h"
#include "model/snapshot/links.h"

namespace muster {

// None: all is well.
using Failure = std::optional<InputError>;

// The problem under construction, and the names by which its parts are found.
struct ProblemDraft {
  Snapshot& snapshot;
  int threads = 1;                       // that a stage may use
  const SnapshotLinks* links = nullptr;  // none: there are none that hold for these pods and gangs
  Problem problem;
  NameTable queues, priority_classes, nodes, gangs;
  NameTable subgroups;  // scope: the gang's index; value: the group's index
  NameTable models;     // number: ModelIndex
  std::vector<DeviceKind> device_kinds;
  Indexed<GangIndex, bool> is_own_gang;  // of a single pod that names no gang
  // The resources that represent host ports, by PodSpecIndex; empty if no pod asks for one.
  Indexed<PodSpecIndex, std::vector<ResourceIndex>> host_ports;
};

// "$.pods[3].gang"; `key` may be empty.
std::string path_to(std::string_view list, std::size_t position, std::string_view key);
// "DuplicateName" and the like, with the name in quotes in the message.
InputError name_error(ErrorCode code, std::string path, std::string_view what, std::string_view name);

// Whether the policy names the pod's scheduler.
bool plans(const Policy& policy, const SnapshotPod& pod);
// Pods that wait for a scheduler which the policy does not name count as running if they are nominated to a node, else
// as failed. The plan does not mention them. Idempotent.
void leave_out_foreign_pods(Snapshot& snapshot);

// Names, forest, inherited minimum run times. Each queue lists all above it, so that they are few.
inline constexpr std::size_t kMostQueueDepth = 64;
inline constexpr std::size_t kMostSubgroupDepth = 64;  // trees of subgroups are walked by recursion
Failure build_queues(ProblemDraft& draft);
// A warning for each queue with a quota of a resource other than gpu, cpu and memory. Idempotent.
void tell_uncounted_quotas(Snapshot& snapshot);

// Names, topology levels and domains, classes of equal nodes.
Failure build_nodes(ProblemDraft& draft);

// Gangs and their trees of subgroups. A minimum that is left to the pods is kUnresolvedMinimum until resolve_gangs.
inline constexpr std::int32_t kUnresolvedMinimum = -1;
Failure build_gangs(ProblemDraft& draft);
// The gang of one pod that names none, with the pod's own terms. Requires that no gang is named as the pod.
Failure add_own_gang(ProblemDraft& draft, PodIndex pod);
// Once all pods are known: minimums, timeouts, stale gangs, the list of priorities.
void resolve_gangs(ProblemDraft& draft);

// Pods with their gang, group, node and times; without class, devices and work.
Failure build_pods(ProblemDraft& draft);

// Rule HostPorts: one more resource for each port that two pods could want on one node.
Failure build_host_ports(ProblemDraft& draft);
// Which running pods count in which disruption budgets that bind; stale gangs that these keep are not stale. Requires
// resolve_gangs.
Failure build_disruption_budgets(ProblemDraft& draft);
// Queue::core_usage. Requires that, and build_work.
void count_kept_minimums(ProblemDraft& draft);

// The relation of a pod to one term of affinity, anti-affinity or spread: it has the term, or matches it.
struct PodTermRole {
  enum class Kind : std::uint8_t {
    kAntiAffinityOwned,
    kAntiAffinityMatched,
    kAffinityOwned,
    kAffinityMatched,
    kSpreadOwned,
    kSpreadOwnedSelf,  // and counts itself, though it matches no selector
    kSpreadMatched,
    kPreferredOwned,
    kPreferredMatched
  };
  Kind kind = Kind::kAntiAffinityOwned;
  std::uint32_t index = 0;  // AntiAffinityIndex, AffinityIndex, SpreadIndex or PreferredTermIndex
  friend auto operator<=>(const PodTermRole&, const PodTermRole&) = default;
};

struct PodTerms {
  // Of pod p: `all[begin[p] .. begin[p + 1]]`, ascending, each once; both empty if no pod has a term.
  std::vector<std::uint32_t> begin;
  std::vector<PodTermRole> all;
};
PodTerms build_pod_terms(ProblemDraft& draft);

// Classes of equal pods, those of the expected workload included; all but their work.
void build_pod_classes(ProblemDraft& draft, const PodTerms& terms);

// Checks that what is on each node fits it, and gives devices to pods that list none. A misfit is an error if the
// snapshot is read strictly, else rule Exceeded holds on the node.
Failure assign_running_devices(ProblemDraft& draft);

// What is on a node beyond what the node reports.
struct NodeExcess {
  NodeIndex node;
  std::vector<ResourceAmount> used;  // of each resource that is exceeded, all that is on the node; ascending
  std::int32_t devices = 0;          // reported ones and those beyond; 0: none is beyond
  Amount devices_asked = 0;          // by all that is on the node
  bool devices_unclear = false;      // which pod holds which is unknown
  std::string what;                  // for people
};
// Rule Exceeded: gives these nodes classes of their own. Requires ascending nodes.
void close_exceeded(ProblemDraft& draft, const std::vector<NodeExcess>& excesses);

// Totals of the cluster, then the work of every class and pod.
void build_work(ProblemDraft& draft);

void build_expected_workload(ProblemDraft& draft);

// Expected durations and ends, seniority, reservations. Cost: O(pods + gangs log gangs), and O(gangs) where the
// snapshot says nothing about durations.
void build_over_time(ProblemDraft& draft);
// Nodes that are held for a gang until all of them are expected to be empty.
struct NodeHold {
  GangIndex gang;
  Nanoseconds until = 0;  // an instant
  std::vector<NodeIndex> nodes;
};
// The gangs that have their turn within quotas, and those that are kept back. Part of build_over_time, once durations
// and ends are expected. Returns what is to be held; no node is in two holds. Cost: O(pods + gangs log gangs), and
// O(nodes log nodes) for each class of pods of large gangs that have their turn.
std::vector<NodeHold> build_turns(ProblemDraft& draft);
// Gives held nodes classes of their own, and closes these to the pods of gangs that may not start there. No
// node is in two holds. Part of build_over_time, after build_turns. Cost: O(pods) for each hold, and
// O(pod classes x new classes of nodes).
void close_held(ProblemDraft& draft, const std::vector<NodeHold>& holds);

// Where the expected workload may go. The last stage, once no class of nodes is added. Cost: O(classes of nodes x
// classes of the expected workload).
void build_expected_there(ProblemDraft& draft);

}  // namespace muster
