// Pod: its own fields, before gangs and devices of the whole list are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/requests.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// How pods name their group, in the order in which this is checked; also the order of the systems.
enum class GroupSystem : std::uint8_t {
  kPodGroup,
  kWorkload,
  kKai,
  kVolcano,
  kCoscheduling,
  kCoschedulingSigs,
  kKueue,
  kNone
};

inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";

struct GroupReference {
  GroupSystem system = GroupSystem::kNone;
  std::string_view name;            // of the group, of the Workload with kWorkload
  std::string_view group, replica;  // only with kWorkload: the pod group within it, and its replica key
  friend bool operator==(const GroupReference&, const GroupReference&) = default;
};

// Labels and annotations that speak of groups.
struct GroupWords {
  std::string_view kai_queue, runai_queue, kai_subgroup, volcano_task;
  std::string_view kueue_queue, kueue_required, kueue_preferred;  // the latter two: node labels of a topology
  bool volcano_forbids_preemption = false;
  std::optional<std::int32_t> min_available;  // what the pod's own labels and annotations ask for
};

struct GpuShare {
  GpuRequestKind kind = GpuRequestKind::kNone;
  std::int64_t devices = 0;
  std::int64_t amount = 0;  // millionths of a device, or MiB
};

// podAffinity or podAntiAffinity: as it stands, and its required terms.
struct PodTermValues {
  std::string_view name, held_over_labels;  // for people
  JsonValue object, required;
  std::vector<JsonValue> preferred = {};  // those that can be judged
};

struct KubernetesPod {
  std::string_view namespace_name, name;
  JsonValue object, labels, node_selector, tolerations, node_affinity, topology_spread, volumes;
  PodTermValues affinity, anti_affinity;
  std::string_view created, started, node, nominated_node;
  std::string_view scheduler;  // empty: the default one
  std::string_view owner_kind, owner_name, template_hash;  // its controller, and the label that a ReplicaSet gives
  std::vector<std::pair<std::string_view, std::string_view>> added_labels;  // by what would make the pod
  PodStatus status = PodStatus::kPending;
  std::optional<std::int32_t> priority;
  std::string_view priority_class;
  bool never_preempts = false;  // its preemption policy is `Never`
  bool is_fixed = false;        // of a DaemonSet, static, or holding a device for sharers
  bool is_reservation = false;  // the latter
  RequestedAmounts requests;
  GpuShare gpu;
  std::vector<HostPort> host_ports;  // sorted, distinct
  GroupReference reference;
  GroupWords words;
  std::string_view held;                     // why Muster cannot plan it; empty: it can. Set by hold()
  std::string unclear;                       // the part of it that could not be read; empty: none
  std::vector<std::string_view> gpu_groups;  // of a sharer that runs, sorted
  std::int32_t gang = -1;                    // position among the gangs; -1: none
  std::string_view subgroup;                 // of the gang; empty: none
  std::vector<std::int32_t> devices;         // of its node; empty: whichever
  bool is_left_out = false;                  // on its way out, and without a node
  std::optional<NodeTerms> volume_terms;     // the nodes that its volumes leave; none: all of them
  bool unbound_volumes = false;              // a claim is bound when its scheduler binds the pod

  // Has the pod (and so its whole gang) held: phase `Held`, with this text for people, "the pod uses ..., which ...".
  // The first text stays. Requires that the text outlives the reading.
  void hold(std::string_view why) {
    if (held.empty()) held = why;
  }
  bool is_on_node() const { return status == PodStatus::kRunning || status == PodStatus::kReleasing; }
  bool waits() const { return status == PodStatus::kPending || status == PodStatus::kGated; }
  std::string full_name() const { return std::string(namespace_name).append("/").append(name); }
};

// A BindRequest of KAI that has not failed: the pod counts as running there.
struct KubernetesBinding {
  std::string_view namespace_name, pod, node;
  std::vector<std::string_view> gpu_groups;  // sorted
};

[[nodiscard]] bool read_pod(KubernetesReading& reading, const KubernetesObject& object, KubernetesPod& out);

// The readable part of a pod that read_pod gave up: its place, its gang, its requests. It is held, and `unclear`.
void read_what_can_be_read(KubernetesReading& reading, const KubernetesObject& object, std::string why,
                           KubernetesPod& out);

// `out.pod` is empty if the request has failed or names no node.
[[nodiscard]] bool read_bind_request(KubernetesReading& reading, const KubernetesObject& object,
                                     KubernetesBinding& out);

}  // namespace muster
