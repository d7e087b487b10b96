// PodGroups of all systems, each by itself, before its pods are known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/grouping/topology.h"
#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// The subgroup of pods that name none; no name of Kubernetes.
inline constexpr std::string_view kNoSubgroup = "(none)";

// Of what pods of a gang say, one value, whatever their order.
inline void keep_first(std::string_view candidate, std::string_view& kept) {
  if (!candidate.empty() && (kept.empty() || candidate < kept)) kept = candidate;
}

// The label of the nodes, queues and groups that one scheduler of KAI looks after.
inline constexpr std::string_view kKaiPoolLabel = "kai.scheduler/node-pool";

// Which group it is.
struct GroupIdentity {
  GroupSystem system = GroupSystem::kNone;
  std::string_view namespace_name, name;
  std::string_view group, replica;  // as in GroupReference

  // "namespace/name", with the pod group of a Workload, and the replica key or part.
  std::string full_name() const;
};

// The least that must run together.
struct GroupMinimum {
  std::optional<std::int32_t> members, subgroups;
  json::JsonValue resources;
  RequestedAmounts amounts;  // used instead of `resources` if no object sets those; `gpu` counts devices
};

struct GroupPriority {
  std::string_view class_name;
  std::optional<std::int32_t> value;
  std::optional<bool> preemptible;
  bool never_preempts = false;
  bool has_policy = false;  // `never_preempts` is set by the group itself, not by its pods
};

// Instants as text, RFC 3339; empty: unknown.
struct GroupTimes {
  std::string_view created, stale_since, last_eviction;
  json::JsonValue timeout, grace_period;
  Nanoseconds preemption_delay = 0;
};

struct KubernetesGroup {
  GroupIdentity identity;
  json::JsonValue object;  // absent: no object defines it
  bool is_basic = false;   // no gang: its pods are each on its own
  GroupMinimum minimum;
  std::vector<SnapshotSubgroup> subgroups;
  std::string_view queue, runai_queue;
  GroupPriority priority;
  Disruption disruption = Disruption::kPods;
  TopologyRequest topology;    // node labels
  std::string_view node_pool;  // of KAI; empty: that of the nodes without the label
  GroupTimes times;
  DialectLabels dialect;
  std::string_view held;      // why its pods must not be placed; empty: they may be
  bool is_protected = false;  // its pods stay as long as they run

  void heed(const known::Effect& unread) {
    keep_first_reason(held, unread.why);
    is_protected = is_protected || unread.protects;
  }
};

// Each reads one object. Errors: those of the values. `topologies` knows all Topology objects.
[[nodiscard]] bool read_kai_group(KubernetesReading& reading, const KubernetesObject& object,
                                  const KubernetesTopologies& topologies, KubernetesGroup& out);
// The words of KAI's preemptibility. False: another one.
[[nodiscard]] bool set_preemptibility(std::string_view word, KubernetesGroup& group);
// KAI's stalenessGracePeriod; a negative one never ends. Errors: WrongType, InvalidValue.
[[nodiscard]] bool read_grace_period(KubernetesReading& reading, json::JsonValue value, KubernetesGroup& group);
// KAI evicts nothing for a group that has waited less than its preemptionDelay since its creation or eviction: then the
// group never preempts, which is the result.
bool delay_preemption(KubernetesGroup& group, Nanoseconds now);
// What annotations and labels tell of a group of Volcano: of its PodGroup, or of the pod that it is made from.
void read_volcano_metadata(json::JsonValue metadata, KubernetesGroup& group);
[[nodiscard]] bool read_volcano_group(KubernetesReading& reading, const KubernetesObject& object, KubernetesGroup& out);
// Of both API groups; `out.system` distinguishes them.
[[nodiscard]] bool read_coscheduling_group(KubernetesReading& reading, const KubernetesObject& object,
                                           KubernetesGroup& out);
// scheduling.k8s.io: PodGroup of 1.36 and 1.37, whose keys are topologies of their own.
[[nodiscard]] bool read_pod_group(KubernetesReading& reading, const KubernetesObject& object,
                                  KubernetesTopologies& topologies, KubernetesGroup& out);
// Workload of 1.35: the pod groups that it holds, appended.
[[nodiscard]] bool read_workload(KubernetesReading& reading, const KubernetesObject& object,
                                 std::vector<KubernetesGroup>& out);

}  // namespace muster::kubernetes
