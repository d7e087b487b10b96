// The Workload API of Kubernetes: scheduling.k8s.io.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::array<FieldRow, 22> kWorkloadApiFields = {{
    {"PodGroup", "spec.disruptionMode", {Treatment::kRead}},
    {"PodGroup", "spec.parentCompositePodGroupName", {Treatment::kHeld, "how many groups start together"}},
    {"PodGroup", "spec.podGroupTemplateRef", {Treatment::kHarmless}},
    {"PodGroup", "spec.preemptionPolicy", {Treatment::kRead}},
    {"PodGroup", "spec.priority", {Treatment::kRead}},
    {"PodGroup", "spec.priorityClassName", {Treatment::kRead}},
    {"PodGroup", "spec.resourceClaims", {Treatment::kHeld, "which devices its pods get"}},
    {"PodGroup", "spec.schedulingConstraints", {Treatment::kHeld, "on which nodes its pods may run"}},
    {"PodGroup", "spec.schedulingConstraints.topology.key", {Treatment::kRead}},
    {"PodGroup", "spec.schedulingPolicy.basic", {Treatment::kRead}},
    {"PodGroup", "spec.schedulingPolicy.gang.minCount", {Treatment::kRead}},
    {"PodGroup", "spec.schedulingPolicy.gang.timeout", {Treatment::kRead}},
    {"PodGroup", "spec.workloadRef", {Treatment::kHarmless}},
    {"CompositePodGroup", "", {Treatment::kIgnored, "which groups start together"}},
    {"CompositePodGroup", "spec", {Treatment::kIgnored, "which groups start together"}},
    {"Workload", "spec.controllerRef", {Treatment::kHarmless}},
    {"Workload", "spec.podGroupTemplates", {Treatment::kHarmless}},
    {"Workload", "spec.compositePodGroupTemplates", {Treatment::kHarmless}},
    {"Workload", "spec.podGroups.name", {Treatment::kRead}},
    {"Workload", "spec.podGroups.policy.basic", {Treatment::kRead}},
    {"Workload", "spec.podGroups.policy.gang.minCount", {Treatment::kRead}},
    {"Workload", "spec.podGroups.policy.gang.timeout", {Treatment::kRead}},
}};

}  // namespace

const Dialect kWorkloadApi = {"Workload API", "scheduling.k8s.io", "scheduling.k8s.io", {}, {}, {}, kWorkloadApiFields};

}  // namespace muster::kubernetes::known
