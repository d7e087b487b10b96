// The group that a pod names, and its labels and annotations about groups: those of the Workload API, KAI, Volcano,
// the coscheduling plugin and Kueue. Those of Koordinator and YuniKorn: gang_labels.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/kubernetes/pod/gang_terms.h"
#include "io/kubernetes/pod/parts.h"

namespace muster::kubernetes {

// Who makes a pod: its controller, and whether the pod can be planned at all.
struct ObjectName {
  std::string_view kind, name;  // in the pod's namespace; empty: none
};

struct PodOwner {
  std::string_view kind, name;     // of its controller; empty: none
  ObjectName top;                  // of the outermost owner that the list tells of; see KubernetesOwners::join
  std::string_view template_hash;  // the label that a ReplicaSet gives
  bool is_fixed = false;           // of a DaemonSet, static, or a reservation
  bool is_reservation = false;     // KAI's pod that holds a device for the pods that share it
};

// Errors: WrongType, DuplicateKey.
[[nodiscard]] bool read_owner(KubernetesReading& reading, const KubernetesObject& object, const PodParts& parts,
                              PodOwner& out);

// How pods name their group, in the order in which this is checked; also the order of the systems.
enum class GroupSystem : std::uint8_t {
  kPodGroup,
  kWorkload,
  kKai,
  kVolcano,
  kCoscheduling,
  kCoschedulingSigs,
  kKueue,
  kKoordinator,
  kYunikorn,
  kKaiOwner,      // a group that KAI is going to make for the pods of an owner,
  kKaiPod,        // or for a pod alone: grouping/kai.h
  kVolcanoOwner,  // the same of Volcano
  kNone
};

struct GroupReference {
  GroupSystem system = GroupSystem::kNone;
  std::string_view name;  // of the group, of the Workload with kWorkload, of the owner with kKaiOwner or kKueue
  // With kWorkload, the pod group within it and its replica key; with kKaiOwner, and kKueue if no label names the
  // group, the owner's kind and a part of it.
  std::string_view group, replica;
  friend bool operator==(const GroupReference&, const GroupReference&) = default;
};

struct VolcanoLabels {
  std::string_view task;
  bool forbids_preemption = false;
  std::optional<Nanoseconds> cooldown;  // the pod is not evicted before it has run so long
};

// Labels and annotations about groups.
struct GroupLabels {
  std::string_view kai_queue, runai_queue, kai_subgroup;
  std::string_view kai_class;  // the priority class that KAI is going to give to the pod's group
  std::string_view kueue_queue, kueue_cluster_queue, kueue_workload, kueue_pod_set, kueue_priority_class;
  std::string_view kueue_required, kueue_preferred;  // node labels of a topology
  std::string_view kueue_held;                       // what Muster cannot plan of its topology; empty: nothing
  bool is_admitted_by_kueue = false;
  VolcanoLabels volcano;
  std::optional<std::int32_t> min_available;  // what the pod's own labels and annotations ask for
};

struct GroupMembership {
  GroupReference reference;
  GroupLabels labels;
  DialectLabels dialect;
  std::int32_t gang = -1;     // position among the gangs; -1: none
  std::string_view subgroup;  // of the gang; empty: none
};

// Why a pod with such a topology is held.
inline constexpr std::string_view kKueueSlicesHeld =
    "the pod set has a topology for slices, which Muster does not plan";
inline constexpr std::string_view kKueueSharedTopologyHeld =
    "the pod sets share a topology, which Muster does not plan";

// The first reference that the pod has. Errors: WrongType.
[[nodiscard]] bool read_group_reference(KubernetesReading& reading, const PodParts& parts, GroupReference& out);

// Those that do not depend on the reference. Errors: WrongType, InvalidValue, of a number of pods.
[[nodiscard]] bool read_group_labels(KubernetesReading& reading, const PodParts& parts, GroupLabels& out);

// Kueue's. Errors: as above.
[[nodiscard]] bool read_kueue_labels(KubernetesReading& reading, const PodParts& parts, GroupMembership& out);

// Whether a value of volcano.sh/preemptable, which is a truth value of Go, allows preemption.
bool allows_preemption(std::string_view value);

}  // namespace muster::kubernetes
