// The parts of a Pod object that its readers share, each looked up once.
#pragma once

#include <array>
#include <string_view>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

inline constexpr std::string_view kKueueMaxTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";

// Shape: one value for each key, absent if the object does not have it. Views into the document.
struct PodParts {
  enum SpecKey {
    kActiveDeadline,
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
    kKueueSliceLayers,
    kKueueWorkload,
    kPodGroupName,
    kNode,
    kGroupName,
    kVolcanoGroupName,
    kCooldown,
    kPreemptable,
    kTaskAnnotation,
    kAnnotationKeys
  };
  enum LabelKey {
    kApp,
    kPodGroupLabel,
    kQueueLabel,
    kSubgroupLabel,
    kKueueClusterQueue,
    kKueueMaxTime,
    kKueueName,
    kKueuePodSet,
    kKueuePriorityClass,
    kKueueQueue,
    kSigsMin,
    kSigsName,
    kTemplateHash,
    kRunaiQueue,
    kXName,
    kCooldownLabel,
    kPreemptableLabel,
    kTaskLabel,
    kLabelKeys
  };

  json::JsonValue status, all_annotations, all_labels, deletion;  // the last: metadata.deletionTimestamp
  std::array<json::JsonValue, kSpecKeys> spec;
  std::array<json::JsonValue, kAnnotationKeys> annotations;
  std::array<json::JsonValue, kLabelKeys> labels;
};

// The steps of filling in the parts; the latter two require the first. Errors: WrongType, DuplicateKey.
[[nodiscard]] bool take_metadata(KubernetesReading& reading, const KubernetesObject& object, PodParts& parts);
[[nodiscard]] bool take_spec(KubernetesReading& reading, const KubernetesObject& object, PodParts& parts);
[[nodiscard]] bool take_annotations(KubernetesReading& reading, PodParts& parts);
[[nodiscard]] bool take_labels(KubernetesReading& reading, PodParts& parts);

// Keeps the first reason why Muster cannot plan a pod; phase `Held`, for people: "the pod uses ..., which ...".
// Requires that the text outlives the reading.
inline void keep_first_reason(std::string_view& held, std::string_view why) {
  if (held.empty()) held = why;
}

}  // namespace muster::kubernetes
