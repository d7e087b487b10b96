#include "io/kubernetes/pod/pod.h"

#include <algorithm>
#include <utility>

#include "io/kubernetes/pod/ports.h"

namespace muster {

namespace {

constexpr std::string_view kReservation = "kai-resource-reservation";
constexpr std::string_view kGpuGroup = "runai-gpu-group", kGpuGroupPrefix = "runai-gpu-group/";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr Billionths kWhole = 1'000'000'000;

// The parts of a pod's metadata and spec that more than one step uses. Keys in the order of their enumerations.
enum SpecKey {
  kAffinity,
  kContainers,
  kHostNetwork,
  kInitContainers,
  kNodeName,
  kNodeSelector,
  kOverhead,
  kPreemptionPolicy,
  kPriority,
  kPriorityClassName,
  kResourceClaims,
  kResources,
  kSchedulerName,
  kSchedulingGates,
  kSchedulingGroup,
  kTolerations,
  kTopologySpread,
  kVolumes,
  kWorkloadRef,
  kSpecKeys
};
constexpr std::array<std::string_view, kSpecKeys> kSpecNames = {
    "affinity",          "containers",      "hostNetwork",     "initContainers",
    "nodeName",          "nodeSelector",    "overhead",        "preemptionPolicy",
    "priority",          "priorityClassName", "resourceClaims", "resources",
    "schedulerName",     "schedulingGates", "schedulingGroup", "tolerations",
    "topologySpreadConstraints", "volumes", "workloadRef"};

enum AnnotationKey {
  kGpuFraction,
  kGpuFractionDevices,
  kGpuMemory,
  kMirror,
  kKueueTotal,
  kKueuePodSetGroup,
  kKueuePreferred,
  kKueueRequired,
  kKueueSlice,
  kPodGroupName,
  kGroupName,
  kVolcanoGroupName,
  kPreemptable,
  kTaskAnnotation,
  kVgpuMode,
  kAnnotationKeys
};
constexpr std::array<std::string_view, kAnnotationKeys> kAnnotationNames = {
    "gpu-fraction",
    "gpu-fraction-num-devices",
    "gpu-memory",
    "kubernetes.io/config.mirror",
    "kueue.x-k8s.io/pod-group-total-count",
    "kueue.x-k8s.io/podset-group-name",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
    "pod-group-name",
    "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/group-name",
    "volcano.sh/preemptable",
    "volcano.sh/task-spec",
    "volcano.sh/vgpu-mode"};

enum LabelKey {
  kApp,
  kPodGroupLabel,
  kQueueLabel,
  kSubgroupLabel,
  kKueueName,
  kKueueQueue,
  kSigsMin,
  kSigsName,
  kTemplateHash,
  kRunaiQueue,
  kXName,
  kTaskLabel,
  kLabelKeys
};
constexpr std::array<std::string_view, kLabelKeys> kLabelNames = {"app",
                                                                  "kai.scheduler/podgroup",
                                                                  "kai.scheduler/queue",
                                                                  "kai.scheduler/subgroup-name",
                                                                  "kueue.x-k8s.io/pod-group-name",
                                                                  kKueueQueueLabel,
                                                                  "pod-group.scheduling.sigs.k8s.io/min-available",
                                                                  "pod-group.scheduling.sigs.k8s.io/name",
                                                                  "pod-template-hash",
                                                                  "runai/queue",
                                                                  "scheduling.x-k8s.io/pod-group",
                                                                  "volcano.sh/task-spec"};

struct PodParts {
  std::array<JsonValue, kSpecKeys> spec;
  std::array<JsonValue, kAnnotationKeys> annotations;
  std::array<JsonValue, kLabelKeys> labels;
  JsonValue status;
};

bool read_gpu(KubernetesReading& in, const PodParts& parts, KubernetesPod& pod) {
  const JsonValue memory = parts.annotations[kGpuMemory], fraction = parts.annotations[kGpuFraction];
  const JsonValue devices = parts.annotations[kGpuFractionDevices];
  const Billionths whole = remove_resource(pod.requests, "nvidia.com/gpu");
  if (memory && (whole > 0 || fraction)) return in.fail_value(memory, "cannot request both GPU and GPU memory");
  if (fraction && whole > 0) {
    return in.fail_value(fraction, "cannot have both GPU fraction request and whole GPU resource request/limit");
  }
  if (devices && !memory && !fraction) {
    return in.fail_value(devices, "gpu-fraction-num-devices requires gpu-fraction or gpu-memory");
  }
  std::int64_t count = 1;
  if (devices && !in.digits(devices, count)) return false;
  if (count == 0) return in.fail_value(devices, "must be greater than 0");
  if (memory) {
    pod.gpu = {GpuRequestKind::kMemory, count, 0};
    return in.digits(memory, pod.gpu.amount) && (pod.gpu.amount > 0 || in.fail_value(memory, "must be greater than 0"));
  }
  if (fraction) {
    if (!in.expect(fraction, JsonKind::kString)) return false;
    const auto number = parse_number(fraction.string());
    const auto share =
        number ? count_units(*number, QuantityUnit::kMillionth, Rounding::kDown) : Result<std::int64_t>(number.error());
    if (!share) return in.fail_value(fraction, share.error().message);
    pod.gpu = {GpuRequestKind::kFraction, count, *share};
    return (*share > 0 && *share < 1'000'000) || in.fail_value(fraction, "must be greater than 0 and less than 1");
  }
  if (whole % kWhole != 0 || whole / kWhole > std::numeric_limits<std::int32_t>::max()) {
    return in.fail_value(parts.spec[kContainers], "nvidia.com/gpu must be a whole number of devices");
  }
  if (whole > 0) pod.gpu = {GpuRequestKind::kWhole, static_cast<std::int64_t>(whole / kWhole), 0};
  return true;
}

bool read_whole(KubernetesReading& in, const PodParts& parts, Billionths amount, std::int64_t most, std::int64_t& out) {
  if (amount % kWhole != 0 || amount / kWhole > most) {
    return in.fail_value(parts.spec[kContainers],
                         "a resource of Volcano's virtual GPUs is not a whole number, or too large");
  }
  out = static_cast<std::int64_t>(amount / kWhole);
  return true;
}

// Volcano's virtual GPUs: a share of each of `vgpu-number` devices. Without memory it is all of the device. Other
// requests next to the memory cannot be expressed with it.
bool read_virtual_gpus(KubernetesReading& in, const PodParts& parts, KubernetesPod& pod) {
  const Billionths number = remove_resource(pod.requests, "volcano.sh/vgpu-number");
  const Billionths memory = remove_resource(pod.requests, "volcano.sh/vgpu-memory");
  const Billionths percentage = remove_resource(pod.requests, "volcano.sh/vgpu-memory-percentage");
  const Billionths cores = remove_resource(pod.requests, "volcano.sh/vgpu-cores");
  if (number == 0 && memory == 0) return true;
  if (pod.gpu.kind != GpuRequestKind::kNone) {
    return in.fail_value(parts.spec[kContainers], "cannot request both GPU and virtual GPU");
  }
  std::int64_t devices = 1, mib = 0, percent = 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (number > 0 && !read_whole(in, parts, number, kMost, devices)) return false;
  if (!read_whole(in, parts, memory, kMost, mib) || !read_whole(in, parts, percentage, kMost, percent)) return false;
  const bool is_whole = cores >= 100 * kWhole || (mib == 0 && (percent == 0 || percent >= 100));
  if (is_whole) {
    pod.gpu = {GpuRequestKind::kWhole, devices, 0};
  } else if (mib > 0) {
    pod.gpu = {GpuRequestKind::kMemory, devices, mib};
  } else {
    pod.gpu = {GpuRequestKind::kFraction, devices, percent * 10'000};
  }
  const bool has_several = devices > 1 && parts.spec[kContainers].size() > 1;
  if (!is_whole && cores > 0)
    pod.hold("the pod requests both a share of GPU cores and GPU memory, which Muster does not plan");
  if (!is_whole && (has_several || (mib > 0 && percent > 0)))
    pod.hold("the pod requests virtual GPUs of several sizes, which Muster does not plan");
  if (!is_whole && parts.annotations[kVgpuMode] && parts.annotations[kVgpuMode].is(JsonKind::kString) &&
      parts.annotations[kVgpuMode].string() == "mig") {
    pod.hold("the pod requests virtual GPUs in MIG mode, which Muster does not plan");
  }
  return true;
}

bool read_requests(KubernetesReading& in, const PodParts& parts, KubernetesPod& pod) {
  const RequestParts asked{parts.spec[kContainers], parts.spec[kInitContainers], parts.spec[kOverhead],
                           parts.spec[kResources], parts.status};
  if (!sum_requests(in, asked, pod.requests)) return false;
  for (const RequestedAmount& requested : pod.requests) {
    if (whole_units(requested) >= 0) continue;
    return in.fail(pod.object, "TooLarge", "the sum of " + std::string(requested.resource) + " exceeds 64 bits");
  }
  if (pod.is_reservation) static_cast<void>(remove_resource(pod.requests, "nvidia.com/gpu"));
  return read_gpu(in, parts, pod) && read_virtual_gpus(in, parts, pod);
}

// The first reference that the pod has.
bool read_reference(KubernetesReading& in, const PodParts& parts, KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 3> kWorkloadKeys = {"name", "podGroup", "podGroupReplicaKey"};
  GroupReference& reference = pod.reference;
  JsonValue name;
  if (!in.take(parts.spec[kSchedulingGroup], "podGroupName", name) || !in.text(name, reference.name)) return false;
  if (!reference.name.empty()) {
    reference.system = GroupSystem::kPodGroup;
    return true;
  }
  if (parts.spec[kWorkloadRef]) {
    std::array<JsonValue, 3> found;
    if (!in.take(parts.spec[kWorkloadRef], kWorkloadKeys, found) || !in.text(found[0], reference.name) ||
        !in.text(found[1], reference.group) || !in.text(found[2], reference.replica)) {
      return false;
    }
    reference.system = GroupSystem::kWorkload;
    return true;
  }
  const std::array<std::pair<GroupSystem, JsonValue>, 7> in_order = {
      {{GroupSystem::kKai, parts.annotations[kPodGroupName]},
       {GroupSystem::kKai, parts.labels[kPodGroupLabel]},
       {GroupSystem::kVolcano, parts.annotations[kGroupName]},
       {GroupSystem::kVolcano, parts.annotations[kVolcanoGroupName]},
       {GroupSystem::kCoscheduling, parts.labels[kXName]},
       {GroupSystem::kCoschedulingSigs, parts.labels[kSigsName]},
       {GroupSystem::kKueue, parts.labels[kKueueName]}}};
  for (const auto& [system, value] : in_order) {
    if (!in.text(value, reference.name)) return false;
    if (reference.name.empty()) continue;
    reference.system = system;
    return true;
  }
  // Kueue admits all pods of a job together if they ask for a topology.
  const bool asks = parts.annotations[kKueueRequired] || parts.annotations[kKueuePreferred];
  if (asks && !pod.owner_name.empty() && pod.owner_kind != "ReplicaSet" && pod.owner_kind != "StatefulSet") {
    reference = {GroupSystem::kKueue, pod.owner_name, {}, {}};
  }
  return true;
}

bool read_count_of_pods(KubernetesReading& in, JsonValue value, std::optional<std::int32_t>& out) {
  if (!value) return true;
  std::int64_t count = 0;
  if (!in.digits(value, count)) return false;
  if (count > std::numeric_limits<std::int32_t>::max())
    return in.fail_value(value, "is too large for a number of pods");
  out = static_cast<std::int32_t>(count);
  return true;
}

bool read_kueue(KubernetesReading& in, const PodParts& parts, KubernetesPod& pod) {
  GroupWords& words = pod.words;
  if (!in.text(parts.labels[kKueueQueue], words.kueue_queue)) return false;
  if (pod.reference.system != GroupSystem::kKueue) return true;
  if (parts.annotations[kKueueSlice]) pod.hold("the pod set has a topology for slices, which Muster does not plan");
  if (parts.annotations[kKueuePodSetGroup]) pod.hold("the pod sets share a topology, which Muster does not plan");
  return in.text(parts.annotations[kKueueRequired], words.kueue_required) &&
         in.text(parts.annotations[kKueuePreferred], words.kueue_preferred) &&
         read_count_of_pods(in, parts.annotations[kKueueTotal], words.min_available);
}

bool read_words(KubernetesReading& in, const PodParts& parts, GroupWords& words) {
  const JsonValue task =
      parts.annotations[kTaskAnnotation] ? parts.annotations[kTaskAnnotation] : parts.labels[kTaskLabel];
  std::string_view preemptable;
  if (!in.text(parts.labels[kQueueLabel], words.kai_queue) || !in.text(parts.labels[kRunaiQueue], words.runai_queue) ||
      !in.text(parts.labels[kSubgroupLabel], words.kai_subgroup) || !in.text(task, words.volcano_task) ||
      !in.text(parts.annotations[kPreemptable], preemptable)) {
    return false;
  }
  words.volcano_forbids_preemption = preemptable == "false";
  return read_count_of_pods(in, parts.labels[kSigsMin], words.min_available);
}

// Whether terms choose namespaces by labels that the list does not contain.
bool asks_namespace_labels(KubernetesReading& in, JsonValue terms, bool& out) {
  for (const JsonValue term : terms.elements()) {
    JsonValue selector;
    if (!in.expect(term, JsonKind::kObject) || !in.take(term, "namespaceSelector", selector)) return false;
    if (selector && !in.expect(selector, JsonKind::kObject)) return false;
    out = out || (!in.has_namespaces && selector && selector.size() > 0);
  }
  return true;
}

bool read_preferred_terms(KubernetesReading& in, const KubernetesObject& object, JsonValue list, PodTermValues& terms) {
  for (const JsonValue preferred : list.elements()) {
    JsonValue term, selector;
    if (!in.expect(preferred, JsonKind::kObject) || !in.take(preferred, "podAffinityTerm", term)) return false;
    if (!in.take(term, "namespaceSelector", selector)) return false;
    if (!in.has_namespaces && selector && selector.is(JsonKind::kObject) && selector.size() > 0) {
      in.remarks.add(std::string("preferred ").append(terms.name).append(
                         " over namespaces chosen by label is ignored: add namespaces to `kubectl get`"),
                     object);
    } else {
      terms.preferred.push_back(preferred);
    }
  }
  return true;
}

// podAffinity or podAntiAffinity. Without the labels of namespaces, a term that uses them cannot be evaluated.
bool read_pod_terms(KubernetesReading& in, const KubernetesObject& object, KubernetesPod& pod, PodTermValues& terms) {
  static constexpr std::array<std::string_view, 2> kForms = {kPreferred, kRequired};
  std::array<JsonValue, 2> found;
  bool has_preferred = false, has_required = false, asks_labels = false;
  if (!in.take(terms.object, kForms, found) || !in.has_elements(found[0], has_preferred) ||
      !in.has_elements(found[1], has_required)) {
    return false;
  }
  if (has_preferred && !read_preferred_terms(in, object, found[0], terms)) return false;
  if (!has_required) return true;
  if (!asks_namespace_labels(in, found[1], asks_labels)) return false;
  if (!asks_labels) {
    terms.required = found[1];
  } else if (pod.held.empty()) {
    pod.held = terms.held_over_labels;
  }
  return true;
}

bool read_affinity(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 3> kKinds = {"nodeAffinity", "podAffinity", "podAntiAffinity"};
  std::array<JsonValue, 3> kinds;
  if (!in.take(parts.spec[kAffinity], kKinds, kinds)) return false;
  pod.node_affinity = kinds[0];
  if (kinds[0] && !in.expect(kinds[0], JsonKind::kObject)) return false;
  pod.affinity = {"pod affinity",
                  "the pod has pod affinity over namespaces chosen by label, and the input has no Namespace: add "
                  "namespaces to `kubectl get`",
                  kinds[1],
                  {},
                  {}};
  pod.anti_affinity = {"pod anti-affinity",
                       "the pod has pod anti-affinity over namespaces chosen by label, and the input has no Namespace: "
                       "add namespaces to `kubectl get`",
                       kinds[2],
                       {},
                       {}};
  return read_pod_terms(in, object, pod, pod.affinity) && read_pod_terms(in, object, pod, pod.anti_affinity);
}

bool read_spread(KubernetesReading& in, JsonValue list, KubernetesPod& pod) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  pod.topology_spread = list;
  for (const JsonValue constraint : list.elements()) {
    if (!in.expect(constraint, JsonKind::kObject)) return false;
  }
  return true;
}

bool read_constraints(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts,
                      KubernetesPod& pod) {
  pod.node_selector = parts.spec[kNodeSelector];
  if (pod.node_selector && !in.expect(pod.node_selector, JsonKind::kObject)) return false;
  bool has_tolerations = false, has_claims = false;
  if (!in.has_elements(parts.spec[kTolerations], has_tolerations)) return false;
  if (has_tolerations) pod.tolerations = parts.spec[kTolerations];
  if (!read_affinity(in, object, parts, pod) || !read_spread(in, parts.spec[kTopologySpread], pod))
    return false;
  if (!in.has_elements(parts.spec[kResourceClaims], has_claims)) return false;
  if (has_claims) pod.hold("the pod has resource claims, which Muster does not plan");
  return true;
}

bool read_volumes(KubernetesReading& in, JsonValue list, KubernetesPod& pod) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (has_any) pod.volumes = list;
  return true;
}

bool read_owner(KubernetesReading& in, const PodParts& parts, JsonValue owners, KubernetesPod& pod) {
  pod.is_reservation = pod.namespace_name == kReservation && parts.labels[kApp] &&
                       parts.labels[kApp].is(JsonKind::kString) && parts.labels[kApp].string() == kReservation;
  pod.is_fixed = pod.is_reservation || parts.annotations[kMirror];
  bool has_any = false;
  if (!in.has_elements(owners, has_any)) return false;
  if (!has_any) return true;
  for (const JsonValue owner : owners.elements()) {
    JsonValue kind;
    std::string_view name;
    if (!in.expect(owner, JsonKind::kObject) || !in.take(owner, "kind", kind) || !in.text(kind, name)) return false;
    if (name == "DaemonSet") pod.is_fixed = true;
  }
  return read_controller(in, owners, pod.owner_kind, pod.owner_name) &&
         in.text(parts.labels[kTemplateHash], pod.template_hash);
}

bool read_status(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, JsonValue deletion,
                 KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 3> kKeys = {"nominatedNodeName", "phase", "startTime"};
  std::array<JsonValue, 3> found;
  std::string_view phase;
  bool is_gated = false;
  if (!in.take(object.status, kKeys, found) || !in.text(found[0], pod.nominated_node) || !in.text(found[1], phase) ||
      !in.instant(found[2], pod.started) || !in.text(parts.spec[kNodeName], pod.node) ||
      !in.text(parts.spec[kSchedulerName], pod.scheduler) ||
      !in.has_elements(parts.spec[kSchedulingGates], is_gated)) {
    return false;
  }
  const bool is_finished = phase == "Succeeded" || phase == "Failed";
  if (is_finished) pod.node = {};
  if (is_finished) {
    pod.status = phase == "Failed" ? PodStatus::kFailed : PodStatus::kSucceeded;
  } else if (!pod.node.empty()) {
    pod.status = deletion ? PodStatus::kReleasing : PodStatus::kRunning;
  } else {
    pod.status = is_gated ? PodStatus::kGated : PodStatus::kPending;
  }
  pod.is_left_out = deletion && pod.node.empty();
  return true;
}

bool read_gpu_groups(KubernetesReading& in, KubernetesPod& pod) {
  if (!pod.labels || pod.gpu.kind == GpuRequestKind::kNone || pod.gpu.kind == GpuRequestKind::kWhole) return true;
  for (const JsonMember label : pod.labels.members()) {
    if (label.key.starts_with(kGpuGroupPrefix)) {
      pod.gpu_groups.push_back(label.key.substr(kGpuGroupPrefix.size()));
    } else if (label.key == kGpuGroup) {
      std::string_view group;
      if (!in.text(label.value, group)) return false;
      if (!group.empty()) pod.gpu_groups.push_back(group);
    }
  }
  std::ranges::sort(pod.gpu_groups);
  const auto rest = std::ranges::unique(pod.gpu_groups);
  pod.gpu_groups.erase(rest.begin(), rest.end());
  return true;
}

}  // namespace

bool read_pod(KubernetesReading& in, const KubernetesObject& object, KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 4> kMetadata = {"annotations", "deletionTimestamp", "labels",
                                                                "ownerReferences"};
  PodParts parts;
  std::array<JsonValue, 4> metadata;
  std::string_view policy;
  pod.namespace_name = object.namespace_name;
  pod.name = object.name;
  pod.object = object.value;
  pod.created = object.created;
  if (!in.take(object.metadata, kMetadata, metadata) || !in.take(object.spec, kSpecNames, parts.spec) ||
      !in.take(metadata[0], kAnnotationNames, parts.annotations) || !in.take(metadata[2], kLabelNames, parts.labels)) {
    return false;
  }
  pod.labels = metadata[2];
  parts.status = object.status;
  return read_owner(in, parts, metadata[3], pod) && read_requests(in, parts, pod) &&
         in.priority(parts.spec[kPriority], pod.priority) &&
         in.text(parts.spec[kPriorityClassName], pod.priority_class) &&
         in.text(parts.spec[kPreemptionPolicy], policy) && ((pod.never_preempts = policy == "Never"), true) &&
         read_reference(in, parts, pod) && read_words(in, parts, pod.words) && read_kueue(in, parts, pod) &&
         read_constraints(in, object, parts, pod) && read_volumes(in, parts.spec[kVolumes], pod) &&
         read_host_ports(in, {parts.spec[kContainers], parts.spec[kInitContainers], parts.spec[kHostNetwork]},
                         pod.host_ports) &&
         read_status(in, object, parts, metadata[1], pod) && read_gpu_groups(in, pod);
}

void read_what_can_be_read(KubernetesReading& in, const KubernetesObject& object, std::string why,
                           KubernetesPod& pod) {
  static constexpr std::array<std::string_view, 3> kMetadata = {"annotations", "deletionTimestamp", "labels"};
  PodParts parts;
  std::array<JsonValue, 3> metadata;
  pod = {};
  pod.namespace_name = object.namespace_name;
  pod.name = object.name;
  pod.object = object.value;
  pod.created = object.created;
  const bool has_parts =
      in.tried(in.take(object.metadata, kMetadata, metadata)) & in.tried(in.take(object.spec, kSpecNames, parts.spec)) &
      in.tried(in.take(metadata[0], kAnnotationNames, parts.annotations)) &
      in.tried(in.take(metadata[2], kLabelNames, parts.labels));
  if (has_parts) pod.labels = metadata[2];
  if (!in.tried(read_requests(in, parts, pod))) {
    pod.requests.clear();
    pod.gpu = {};
  }
  const bool has_terms = in.tried(in.priority(parts.spec[kPriority], pod.priority)) &
                         in.tried(in.text(parts.spec[kPriorityClassName], pod.priority_class)) &
                         in.tried(read_reference(in, parts, pod)) & in.tried(read_words(in, parts, pod.words)) &
                         in.tried(read_kueue(in, parts, pod));
  const bool has_status = in.tried(read_status(in, object, parts, metadata[1], pod));
  if (!has_status && in.tried(in.text(parts.spec[kNodeName], pod.node)) && !pod.node.empty())
    pod.status = PodStatus::kRunning;
  if (!has_status) pod.started = {};
  pod.held = has_terms ? "it cannot be read" : "its gang cannot be read";
  pod.unclear = std::move(why);
}

bool read_bind_request(KubernetesReading& in, const KubernetesObject& object, KubernetesBinding& out) {
  static constexpr std::array<std::string_view, 3> kSpec = {"podName", "selectedGPUGroups", "selectedNode"};
  std::array<JsonValue, 3> spec;
  JsonValue phase;
  std::string_view phase_name, pod;
  bool has_groups = false;
  if (!in.take(object.spec, kSpec, spec) || !in.take(object.status, "phase", phase) || !in.text(phase, phase_name) ||
      !in.text(spec[0], pod) || !in.text(spec[2], out.node) || !in.has_elements(spec[1], has_groups)) {
    return false;
  }
  if (has_groups) {
    for (const JsonValue element : spec[1].elements()) {
      if (!in.text(element, out.gpu_groups.emplace_back())) return false;
    }
    std::ranges::sort(out.gpu_groups);
  }
  out.namespace_name = object.namespace_name;
  if (phase_name != "Failed" && !out.node.empty()) out.pod = pod;
  return true;
}

}  // namespace muster
