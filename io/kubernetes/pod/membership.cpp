#include "io/kubernetes/pod/membership.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kReservation = "kai-resource-reservation";

bool is_reservation(const KubernetesObject& object, json::JsonValue app) {
  return object.namespace_name == kReservation && app && app.is(json::JsonKind::kString) &&
         app.string() == kReservation;
}

}  // namespace

bool read_owner(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, PodOwner& out) {
  json::JsonValue owners;
  bool has_any = false;
  out.is_reservation = is_reservation(object, parts.labels[PodParts::kApp]);
  out.is_fixed = out.is_reservation || parts.annotations[PodParts::kMirror];
  if (!in.take(object.metadata, "ownerReferences", owners) || !in.has_elements(owners, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue owner : owners.elements()) {
    json::JsonValue kind;
    std::string_view name;
    if (!in.expect(owner, json::JsonKind::kObject) || !in.take(owner, "kind", kind) || !in.text(kind, name))
      return false;
    if (name == "DaemonSet") out.is_fixed = true;
  }
  return read_controller(in, owners, out.kind, out.name) &&
         in.text(parts.labels[PodParts::kTemplateHash], out.template_hash);
}

namespace {

bool read_count_of_pods(KubernetesReading& in, json::JsonValue value, std::optional<std::int32_t>& out) {
  if (!value) return true;
  std::int64_t count = 0;
  if (!in.digits(value, count)) return false;
  if (count > std::numeric_limits<std::int32_t>::max())
    return in.fail_value(value, "is too large for a number of pods");
  out = static_cast<std::int32_t>(count);
  return true;
}

// The label comes first; one that cannot be read does not count.
void read_cooldown(KubernetesReading& in, const PodParts& parts, GroupLabels& labels) {
  const json::JsonValue written = parts.labels[PodParts::kCooldownLabel] ? parts.labels[PodParts::kCooldownLabel]
                                                                         : parts.annotations[PodParts::kCooldown];
  Nanoseconds duration = 0;
  if (written && written.is(json::JsonKind::kString) &&
      in.try_without_path([&] { return in.read_duration(written, duration); })) {
    labels.volcano.cooldown = duration;
  }
}

}  // namespace

// The first reference that the pod has.
bool read_group_reference(KubernetesReading& in, const PodParts& parts, GroupReference& reference) {
  static constexpr std::array<std::string_view, 3> kWorkloadKeys = {"name", "podGroup", "podGroupReplicaKey"};
  json::JsonValue name;
  if (!in.take(parts.spec[PodParts::kSchedulingGroup], "podGroupName", name) || !in.text(name, reference.name))
    return false;
  if (!reference.name.empty()) {
    reference.system = GroupSystem::kPodGroup;
    return true;
  }
  if (parts.spec[PodParts::kWorkloadRef]) {
    std::array<json::JsonValue, 3> found;
    if (!in.take(parts.spec[PodParts::kWorkloadRef], kWorkloadKeys, found) || !in.text(found[0], reference.name) ||
        !in.text(found[1], reference.group) || !in.text(found[2], reference.replica)) {
      return false;
    }
    reference.system = GroupSystem::kWorkload;
    return true;
  }
  const std::array<std::pair<GroupSystem, json::JsonValue>, 7> in_order = {
      {{GroupSystem::kKai, parts.annotations[PodParts::kPodGroupName]},
       {GroupSystem::kKai, parts.labels[PodParts::kPodGroupLabel]},
       {GroupSystem::kVolcano, parts.annotations[PodParts::kGroupName]},
       {GroupSystem::kVolcano, parts.annotations[PodParts::kVolcanoGroupName]},
       {GroupSystem::kCoscheduling, parts.labels[PodParts::kXName]},
       {GroupSystem::kCoschedulingSigs, parts.labels[PodParts::kSigsName]},
       {GroupSystem::kKueue, parts.labels[PodParts::kKueueName]}}};
  for (const auto& [system, value] : in_order) {
    if (!in.text(value, reference.name)) return false;
    if (reference.name.empty()) continue;
    reference.system = system;
    return true;
  }
  return true;
}

bool read_kueue_labels(KubernetesReading& in, const PodParts& parts, GroupMembership& out) {
  GroupLabels& labels = out.labels;
  if (!in.text(parts.labels[PodParts::kKueueQueue], labels.kueue_queue) ||
      !in.text(parts.labels[PodParts::kKueueClusterQueue], labels.kueue_cluster_queue) ||
      !in.text(parts.labels[PodParts::kKueuePodSet], labels.kueue_pod_set) ||
      !in.text(parts.labels[PodParts::kKueuePriorityClass], labels.kueue_priority_class) ||
      !in.text(parts.annotations[PodParts::kKueueWorkload], labels.kueue_workload) ||
      !in.text(parts.annotations[PodParts::kKueueRequired], labels.kueue_required) ||
      !in.text(parts.annotations[PodParts::kKueuePreferred], labels.kueue_preferred)) {
    return false;
  }
  labels.is_admitted_by_kueue = !labels.kueue_workload.empty() || !labels.kueue_pod_set.empty();
  if (parts.annotations[PodParts::kKueuePodSetGroup]) labels.kueue_held = kKueueSharedTopologyHeld;
  if (parts.annotations[PodParts::kKueueSlice] || parts.annotations[PodParts::kKueueSliceLayers])
    labels.kueue_held = kKueueSlicesHeld;
  return out.reference.system != GroupSystem::kKueue ||
         read_count_of_pods(in, parts.annotations[PodParts::kKueueTotal], labels.min_available);
}

bool allows_preemption(std::string_view value) {
  static constexpr std::array<std::string_view, 6> kTrue = {"1", "T", "TRUE", "True", "t", "true"};
  return std::ranges::find(kTrue, value) != kTrue.end();
}

bool read_group_labels(KubernetesReading& in, const PodParts& parts, GroupLabels& labels) {
  const json::JsonValue task = parts.annotations[PodParts::kTaskAnnotation]
                                   ? parts.annotations[PodParts::kTaskAnnotation]
                                   : parts.labels[PodParts::kTaskLabel];
  json::JsonValue queue = parts.labels[PodParts::kQueueLabel];
  if (in.kai.queue_label != KaiNames().queue_label && !in.take(parts.all_labels, in.kai.queue_label, queue))
    return false;
  const json::JsonValue preemptable = parts.annotations[PodParts::kPreemptable]
                                          ? parts.annotations[PodParts::kPreemptable]
                                          : parts.labels[PodParts::kPreemptableLabel];
  std::string_view is_preemptable;
  if (!in.text(queue, labels.kai_queue) || !in.text(parts.labels[PodParts::kRunaiQueue], labels.runai_queue) ||
      !in.text(parts.labels[PodParts::kSubgroupLabel], labels.kai_subgroup) || !in.text(task, labels.volcano.task) ||
      !in.text(preemptable, is_preemptable)) {
    return false;
  }
  // Volcano evicts nothing of what it cannot read.
  labels.volcano.forbids_preemption = preemptable && !allows_preemption(is_preemptable);
  read_cooldown(in, parts, labels);
  return read_count_of_pods(in, parts.labels[PodParts::kSigsMin], labels.min_available);
}

}  // namespace muster::kubernetes
