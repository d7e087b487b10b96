// Pod: its own fields, before gangs and devices of the whole list are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/constraints.h"
#include "io/kubernetes/pod/gpu.h"
#include "io/kubernetes/pod/membership.h"
#include "io/kubernetes/pod/requests.h"
#include "io/kubernetes/pod/run_time.h"
#include "io/muster_v1/pod_specs.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

struct PodLabels {
  json::JsonValue own;                                               // an object, or absent
  std::vector<std::pair<std::string_view, std::string_view>> added;  // by what would make the pod
};

struct PodVolumes {
  json::JsonValue list;                 // spec.volumes; absent: none
  std::optional<NodeTerms> node_terms;  // the nodes that the volumes leave; none: all of them
  bool has_unbound_claim = false;       // a claim is bound when its scheduler binds the pod
};

struct PodPriority {
  std::optional<std::int32_t> value;
  std::string_view class_name;
  bool never_preempts = false;  // the preemption policy is `Never`
};

// How far the pod has come. Texts of instants are RFC 3339; empty: unknown.
struct PodState {
  PodStatus status = PodStatus::kPending;
  std::string_view node, nominated_node;
  std::string_view created, started;
  std::string_view ended;     // of a pod that has succeeded
  bool is_left_out = false;   // without a node, and on its way out or left to another scheduler
  bool is_protected = false;  // it stays as long as it runs
  bool is_on_node() const { return status == PodStatus::kRunning || status == PodStatus::kReleasing; }
  bool waits() const { return status == PodStatus::kPending || status == PodStatus::kGated; }
};

struct PodSource {
  json::JsonValue object;
  // Of a pod that is kept (KeptObject): what add_own adds. None: it was read just now, or was given more requests
  // since.
  const muster_v1::SpecSignature* signature = nullptr;
};

struct KubernetesPod {
  std::string_view namespace_name, name;
  PodSource source;
  PodLabels labels;
  PodOwner owner;
  PodConstraints constraints;
  PodVolumes volumes;
  PodPriority priority;
  ExpectedRunTime run_time;
  RequestedAmounts requests;  // without GPUs
  PodGpus gpus;
  GroupMembership membership;
  PodState state;
  std::string_view held;  // why Muster cannot plan it; empty: it can. Set by hold()
  std::string unclear;    // the part of it that could not be read; empty: none

  // Has the pod (and so its whole gang) held: phase `Held`, with this text. See keep_first_reason.
  void hold(std::string_view why) { keep_first_reason(held, why); }
  void heed(const known::Hold& unread) {
    heed(unread.always);
    if (membership.reference.system == GroupSystem::kNone) heed(unread.ungrouped);
  }
  void heed(const known::Effect& unread) {
    hold(unread.why);
    state.is_protected = state.is_protected || (unread.protects && state.is_on_node());
  }
  std::string full_name() const { return std::string(namespace_name).append("/").append(name); }
};

// Heeds what is known of the resources that the pod requests.
void heed_resources(KubernetesReading& reading, KubernetesPod& pod);

// Errors: those of the values.
[[nodiscard]] bool read_pod(KubernetesReading& reading, const KubernetesObject& object, KubernetesPod& out);

// The readable part of a pod that read_pod gave up: its place, its gang, its requests. It is held, and `unclear`.
void read_what_can_be_read(KubernetesReading& reading, const KubernetesObject& object, std::string why,
                           KubernetesPod& out);

}  // namespace muster::kubernetes
