#include "io/kubernetes/pod/parts.h"

namespace muster::kubernetes {

namespace {

// Keys in the order of their enumerations.
constexpr std::array<std::string_view, PodParts::kSpecKeys> kSpecNames = {"activeDeadlineSeconds",
                                                                          "affinity",
                                                                          "containers",
                                                                          "hostNetwork",
                                                                          "initContainers",
                                                                          "nodeName",
                                                                          "nodeSelector",
                                                                          "overhead",
                                                                          "preemptionPolicy",
                                                                          "priority",
                                                                          "priorityClassName",
                                                                          "resourceClaims",
                                                                          "resources",
                                                                          "schedulerName",
                                                                          "schedulingGates",
                                                                          "schedulingGroup",
                                                                          "tolerations",
                                                                          "topologySpreadConstraints",
                                                                          "volumes",
                                                                          "workloadRef"};

constexpr std::array<std::string_view, PodParts::kAnnotationKeys> kAnnotationNames = {
    "gpu-fraction",
    "gpu-fraction-num-devices",
    "gpu-memory",
    "kubernetes.io/config.mirror",
    "kueue.x-k8s.io/pod-group-total-count",
    "kueue.x-k8s.io/podset-group-name",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
    "kueue.x-k8s.io/podset-slice-required-topology-constraints",
    "kueue.x-k8s.io/workload",
    "pod-group-name",
    kNodeAnnotation,
    "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/group-name",
    "volcano.sh/cooldown-time",
    "volcano.sh/preemptable",
    "volcano.sh/task-spec"};

constexpr std::array<std::string_view, PodParts::kLabelKeys> kLabelNames = {
    "app",
    "kai.scheduler/podgroup",
    "kai.scheduler/queue",
    "kai.scheduler/subgroup-name",
    "kueue.x-k8s.io/cluster-queue-name",
    kKueueMaxTimeLabel,
    "kueue.x-k8s.io/pod-group-name",
    "kueue.x-k8s.io/podset",
    "kueue.x-k8s.io/priority-class",
    kKueueQueueLabel,
    "pod-group.scheduling.sigs.k8s.io/min-available",
    "pod-group.scheduling.sigs.k8s.io/name",
    "pod-template-hash",
    "runai/queue",
    "scheduling.x-k8s.io/pod-group",
    "volcano.sh/cooldown-time",
    "volcano.sh/preemptable",
    "volcano.sh/task-spec"};

}  // namespace

bool take_metadata(KubernetesReading& in, const KubernetesObject& object, PodParts& parts) {
  static constexpr std::array<std::string_view, 3> kMetadata = {"annotations", "deletionTimestamp", "labels"};
  std::array<json::JsonValue, 3> metadata;
  if (!in.take(object.metadata, kMetadata, metadata)) return false;
  parts.all_annotations = metadata[0];
  parts.deletion = metadata[1];
  parts.all_labels = metadata[2];
  parts.status = object.status;
  return true;
}

bool take_spec(KubernetesReading& in, const KubernetesObject& object, PodParts& parts) {
  return in.take(object.spec, kSpecNames, parts.spec);
}

bool take_annotations(KubernetesReading& in, PodParts& parts) {
  return in.take(parts.all_annotations, kAnnotationNames, parts.annotations);
}

bool take_labels(KubernetesReading& in, PodParts& parts) {
  return in.take(parts.all_labels, kLabelNames, parts.labels);
}

}  // namespace muster::kubernetes
