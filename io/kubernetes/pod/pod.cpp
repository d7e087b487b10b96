#include "io/kubernetes/pod/pod.h"

#include <utility>

#include "io/kubernetes/pod/card_parts.h"
#include "io/kubernetes/pod/gang_labels.h"
#include "io/kubernetes/pod/ports.h"

namespace muster::kubernetes {

namespace {

void begin_pod(const KubernetesObject& object, KubernetesPod& pod) {
  pod.namespace_name = object.namespace_name;
  pod.name = object.name;
  pod.source.object = object.value;
  pod.state.created = object.created;
}

bool read_requests(KubernetesReading& in, const PodParts& parts, KubernetesPod& pod) {
  const RequestParts asked{parts.spec[PodParts::kContainers], parts.spec[PodParts::kInitContainers],
                           parts.spec[PodParts::kOverhead], parts.spec[PodParts::kResources], parts.status};
  if (!sum_requests(in, asked, pod.requests)) return false;
  for (const RequestedAmount& requested : pod.requests) {
    if (whole_units(requested) >= 0) continue;
    return in.fail(pod.source.object, ErrorCode::kTooLarge,
                   "the sum of " + std::string(requested.resource) + " exceeds 64 bits");
  }
  if (pod.owner.is_reservation) static_cast<void>(remove_resource(pod.requests, "nvidia.com/gpu"));
  if (!read_card_share(in, parts, pod.requests, pod.gpus.share, pod.held) ||
      !read_gpu_request(in, parts, pod.requests, pod.gpus.request)) {
    return false;
  }
  if (pod.gpus.share.dialect == nullptr) return true;
  if (pod.gpus.request.kind != GpuRequestKind::kNone)
    return in.fail_value(parts.spec[PodParts::kContainers], "cannot request both GPU and virtual GPU");
  pod.gpus.request = part_of(pod.gpus.share, {}, {}).request;
  return true;
}

bool read_priority(KubernetesReading& in, const PodParts& parts, PodPriority& priority) {
  return in.priority(parts.spec[PodParts::kPriority], priority.value) &&
         in.text(parts.spec[PodParts::kPriorityClassName], priority.class_name);
}

bool read_preemption_policy(KubernetesReading& in, const PodParts& parts, PodPriority& priority) {
  std::string_view policy;
  if (!in.text(parts.spec[PodParts::kPreemptionPolicy], policy)) return false;
  priority.never_preempts = policy == "Never";
  return true;
}

bool read_volumes(KubernetesReading& in, json::JsonValue list, KubernetesPod& pod) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (has_any) pod.volumes.list = list;
  return true;
}

// Of a pod that waits: whether it has the planned gate, and whether it has others.
struct Gates {
  bool has_planned = false, has_others = false;
};

bool read_gates(KubernetesReading& in, json::JsonValue list, Gates& gates) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue gate : list.elements()) {
    json::JsonValue name;
    std::string_view text;
    if (!in.take(gate, "name", name) || !in.text(name, text)) return false;
    const bool is_planned = !in.planned_gate.empty() && text == in.planned_gate;
    (is_planned ? gates.has_planned : gates.has_others) = true;
  }
  return true;
}

// With a planned gate, of a pod that waits without it: if the gate was taken away, it runs on the node of its
// annotation, even before its scheduler has bound it there; another one is left to its scheduler, and takes the node
// that this one has nominated.
bool settle_planned(KubernetesReading& in, const PodParts& parts, const Gates& gates, PodState& state) {
  if (in.planned_gate.empty() || state.is_left_out || !state.waits() || gates.has_planned) return true;
  std::string_view node;
  if (!in.text(parts.annotations[PodParts::kNode], node)) return false;
  state.node = node.empty() || gates.has_others ? state.nominated_node : node;
  state.is_left_out = state.node.empty();
  if (!state.is_left_out) state.status = PodStatus::kRunning;
  return true;
}

bool read_status(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 3> kKeys = {"nominatedNodeName", "phase", "startTime"};
  std::array<json::JsonValue, 3> found;
  std::string_view phase;
  Gates gates;
  if (!in.take(object.status, kKeys, found) || !in.text(found[0], pod.state.nominated_node) ||
      !in.text(found[1], phase) || !in.instant(found[2], pod.state.started) ||
      !in.text(parts.spec[PodParts::kNodeName], pod.state.node) ||
      !in.text(parts.spec[PodParts::kSchedulerName], pod.constraints.scheduler) ||
      !read_gates(in, parts.spec[PodParts::kSchedulingGates], gates)) {
    return false;
  }
  const bool is_finished = phase == "Succeeded" || phase == "Failed";
  if (is_finished) pod.state.node = {};
  if (is_finished) {
    pod.state.status = phase == "Failed" ? PodStatus::kFailed : PodStatus::kSucceeded;
  } else if (!pod.state.node.empty()) {
    pod.state.status = parts.deletion ? PodStatus::kReleasing : PodStatus::kRunning;
  } else {
    pod.state.status = gates.has_others ? PodStatus::kGated : PodStatus::kPending;
  }
  pod.state.is_left_out = parts.deletion && pod.state.node.empty();
  return settle_planned(in, parts, gates, pod.state);
}

bool read_parts(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, KubernetesPod& pod) {
  return read_owner(in, object, parts, pod.owner) && read_requests(in, parts, pod) &&
         read_priority(in, parts, pod.priority) && read_preemption_policy(in, parts, pod.priority) &&
         read_group_reference(in, parts, pod.membership.reference) &&
         read_group_labels(in, parts, pod.membership.labels) && read_kueue_labels(in, parts, pod.membership) &&
         read_dialect_labels(in, parts, pod.membership, pod.held) &&
         read_constraints(in, object, parts, pod.constraints, pod.held) &&
         read_volumes(in, parts.spec[PodParts::kVolumes], pod) &&
         read_host_ports(in,
                         {parts.spec[PodParts::kContainers], parts.spec[PodParts::kInitContainers],
                          parts.spec[PodParts::kHostNetwork]},
                         pod.constraints.host_ports) &&
         read_status(in, object, parts, pod) &&
         (!pod.gpus.request.is_shared() || read_gpu_groups(in, pod.labels.own, pod.gpus.groups));
}

}  // namespace

void heed_resources(KubernetesReading& in, KubernetesPod& pod) {
  for (const RequestedAmount& requested : pod.requests) {
    const known::Rule* rule = known::rule_of_resource(requested.resource);
    if (rule == nullptr || rule->treatment <= known::Treatment::kHarmless || requested.amount == 0) continue;
    const known::Unread unread{known::Place::kResource, std::string(requested.resource), {}, rule};
    pod.heed(in.unread.add("Pod", pod.full_name(), {&unread, 1}));
  }
}

bool read_pod(KubernetesReading& in, const KubernetesObject& object, KubernetesPod& pod) {
  PodParts parts;
  begin_pod(object, pod);
  if (!take_metadata(in, object, parts) || !take_spec(in, object, parts) || !take_annotations(in, parts) ||
      !take_labels(in, parts)) {
    return false;
  }
  pod.labels.own = parts.all_labels;
  if (!read_parts(in, object, parts, pod)) return false;
  pod.run_time = read_expected_run_time(in, object, parts);
  if (pod.state.status == PodStatus::kSucceeded) pod.state.ended = read_end(in, object);
  return true;
}

void read_what_can_be_read(KubernetesReading& in, const KubernetesObject& object, std::string why, KubernetesPod& pod) {
  PodParts parts;
  pod = {};
  begin_pod(object, pod);
  const bool has_parts = in.tried(take_metadata(in, object, parts)) & in.tried(take_spec(in, object, parts)) &
                         in.tried(take_annotations(in, parts)) & in.tried(take_labels(in, parts));
  if (has_parts) pod.labels.own = parts.all_labels;
  pod.run_time = read_expected_run_time(in, object, parts);
  if (!in.tried(read_requests(in, parts, pod))) {
    pod.requests.clear();
    pod.gpus = {};
  }
  GroupMembership& membership = pod.membership;
  const bool has_terms = in.tried(in.priority(parts.spec[PodParts::kPriority], pod.priority.value)) &
                         in.tried(in.text(parts.spec[PodParts::kPriorityClassName], pod.priority.class_name)) &
                         in.tried(read_group_reference(in, parts, membership.reference)) &
                         in.tried(read_group_labels(in, parts, membership.labels)) &
                         in.tried(read_kueue_labels(in, parts, membership)) &
                         in.tried(read_dialect_labels(in, parts, membership, pod.held));
  const bool has_status = in.tried(read_status(in, object, parts, pod));
  if (!has_status && in.tried(in.text(parts.spec[PodParts::kNodeName], pod.state.node)) && !pod.state.node.empty())
    pod.state.status = PodStatus::kRunning;
  if (!has_status) pod.state.started = {};
  pod.held = has_terms ? "it cannot be read" : "its gang cannot be read";
  pod.unclear = std::move(why);
}

}  // namespace muster::kubernetes
