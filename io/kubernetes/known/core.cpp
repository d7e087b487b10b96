// Kubernetes itself: pods, templates, nodes and what makes pods.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::array<KeyRow, 4> kCoreAnnotations = {{
    {kPods, "kubernetes.io/config.mirror", {Treatment::kRead}},
    {kOthers, "pv.kubernetes.io/bind-completed", {Treatment::kRead}},
    {kOthers, "volume.beta.kubernetes.io/storage-class", {Treatment::kRead}},
    {kOthers, "volume.kubernetes.io/selected-node", {Treatment::kRead}},
}};

constexpr std::array<KeyRow, 2> kCoreLabels = {{
    {kPods, "app", {Treatment::kRead}},
    {kPods, "pod-template-hash", {Treatment::kRead}},
}};

constexpr std::array<FieldRow, 61> kCoreFields = {{
    {"Pod", "spec.activeDeadlineSeconds", {Treatment::kRead}},
    {"Pod", "spec.affinity", {Treatment::kRead}},
    {"Pod", "spec.automountServiceAccountToken", {Treatment::kHarmless}},
    {"Pod", "spec.containers", {Treatment::kRead}},
    {"Pod", "spec.dnsConfig", {Treatment::kHarmless}},
    {"Pod", "spec.dnsPolicy", {Treatment::kHarmless}},
    {"Pod", "spec.enableServiceLinks", {Treatment::kHarmless}},
    {"Pod", "spec.ephemeralContainers", {Treatment::kHarmless}},
    {"Pod", "spec.evictionResponders", {Treatment::kHarmless}},
    {"Pod", "spec.hostAliases", {Treatment::kHarmless}},
    {"Pod", "spec.hostIPC", {Treatment::kHarmless}},
    {"Pod", "spec.hostNetwork", {Treatment::kRead}},
    {"Pod", "spec.hostPID", {Treatment::kHarmless}},
    {"Pod", "spec.hostUsers", {Treatment::kHarmless}},
    {"Pod", "spec.hostname", {Treatment::kHarmless}},
    {"Pod", "spec.hostnameOverride", {Treatment::kHarmless}},
    {"Pod", "spec.imagePullSecrets", {Treatment::kHarmless}},
    {"Pod", "spec.initContainers", {Treatment::kRead}},
    {"Pod", "spec.nodeName", {Treatment::kRead}},
    {"Pod", "spec.nodeSelector", {Treatment::kRead}},
    {"Pod", "spec.os", {Treatment::kHarmless}},
    {"Pod", "spec.overhead", {Treatment::kRead}},
    {"Pod", "spec.preemptionPolicy", {Treatment::kRead}},
    {"Pod", "spec.priority", {Treatment::kRead}},
    {"Pod", "spec.priorityClassName", {Treatment::kRead}},
    {"Pod", "spec.readinessGates", {Treatment::kHarmless}},
    {"Pod", "spec.resourceClaims", {Treatment::kHeld, "which devices its pods get"}},
    {"Pod", "spec.resources", {Treatment::kRead}},
    {"Pod", "spec.restartPolicy", {Treatment::kHarmless}},
    {"Pod", "spec.runtimeClassName", {Treatment::kHarmless}},
    {"Pod", "spec.schedulerName", {Treatment::kRead}},
    {"Pod", "spec.schedulingGates", {Treatment::kRead}},
    {"Pod", "spec.schedulingGroup.podGroupName", {Treatment::kRead}},
    {"Pod", "spec.securityContext", {Treatment::kHarmless}},
    {"Pod", "spec.serviceAccount", {Treatment::kHarmless}},
    {"Pod", "spec.serviceAccountName", {Treatment::kHarmless}},
    {"Pod", "spec.setHostnameAsFQDN", {Treatment::kHarmless}},
    {"Pod", "spec.shareProcessNamespace", {Treatment::kHarmless}},
    {"Pod", "spec.subdomain", {Treatment::kHarmless}},
    {"Pod", "spec.terminationGracePeriodSeconds", {Treatment::kHarmless}},
    {"Pod", "spec.tolerations", {Treatment::kRead}},
    {"Pod", "spec.topologySpreadConstraints", {Treatment::kRead}},
    {"Pod", "spec.volumes", {Treatment::kRead}},
    {"Pod", "spec.workloadRef", {Treatment::kRead}},
    {"PodTemplate", "spec", {Treatment::kHarmless}},
    {"PodTemplate", "spec.runtimeClassName", {Treatment::kRead}},
    {"PodTemplate",
     "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys",
     {Treatment::kHeld, "which pods must be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.matchLabelKeys",
     {Treatment::kIgnored, "which pods prefer to be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys",
     {Treatment::kHeld, "which pods must be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.mismatchLabelKeys",
     {Treatment::kIgnored, "which pods prefer to be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys",
     {Treatment::kHeld, "which pods must be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.matchLabelKeys",
     {Treatment::kIgnored, "which pods prefer to be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys",
     {Treatment::kHeld, "which pods must be near or apart"}},
    {"PodTemplate",
     "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.mismatchLabelKeys",
     {Treatment::kIgnored, "which pods prefer to be near or apart"}},
    {"Node", "spec.configSource", {Treatment::kHarmless}},
    {"Node", "spec.externalID", {Treatment::kHarmless}},
    {"Node", "spec.podCIDR", {Treatment::kHarmless}},
    {"Node", "spec.podCIDRs", {Treatment::kHarmless}},
    {"Node", "spec.providerID", {Treatment::kHarmless}},
    {"Node", "spec.taints", {Treatment::kRead}},
    {"Node", "spec.unschedulable", {Treatment::kRead}},
}};

}  // namespace

const Dialect kCore = {"Kubernetes", "", "core apps batch", kCoreAnnotations, kCoreLabels, {}, kCoreFields};

}  // namespace muster::kubernetes::known
