// Plugins of kube-scheduler: scheduling.x-k8s.io, scheduling.sigs.k8s.io.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kNuma = "on which nodes pods fit by NUMA zone";

constexpr std::array<KeyRow, 1> kCoschedulingAnnotations = {{
    {kPods | kGroups, "pod-group.scheduling.sigs.k8s.io/match-policy", {Treatment::kRead}},
}};

constexpr std::array<KeyRow, 4> kCoschedulingLabels = {{
    {kPods, "pod-group.scheduling.sigs.k8s.io/min-available", {Treatment::kRead}},
    {kPods, "pod-group.scheduling.sigs.k8s.io/name", {Treatment::kRead}},
    {kOwners, "scheduling.x-k8s.io/pod-group", {Treatment::kHarmless}},
    {kPods, "scheduling.x-k8s.io/pod-group", {Treatment::kRead}},
}};

constexpr std::array<FieldRow, 11> kCoschedulingFields = {{
    {"PodGroup", "spec.minMember", {Treatment::kRead}},
    {"PodGroup", "spec.minResources", {Treatment::kRead}},
    {"PodGroup", "spec.priorityClassName", {Treatment::kRead}},
    {"PodGroup", "spec.scheduleTimeoutSeconds", {Treatment::kRead}},
    {"ElasticQuota", "spec", {Treatment::kIgnored, "how much pods of the namespace may use"}},
    {"NodeResourceTopology", "", {Treatment::kIgnored, kNuma}},
    {"NodeResourceTopology", "spec", {Treatment::kHarmless}},
    {"AppGroup", "", {Treatment::kIgnored, "which pods are near each other"}},
    {"AppGroup", "spec", {Treatment::kHarmless}},
    {"NetworkTopology", "", {Treatment::kIgnored, "which pods are near each other"}},
    {"NetworkTopology", "spec", {Treatment::kHarmless}},
}};

}  // namespace

const Dialect kCoscheduling = {"Coscheduling",
                               "scheduling.x-k8s.io scheduling.sigs.k8s.io",
                               "scheduling.x-k8s.io scheduling.sigs.k8s.io topology.node.k8s.io "
                               "appgroup.diktyo.x-k8s.io networktopology.diktyo.x-k8s.io",
                               kCoschedulingAnnotations,
                               kCoschedulingLabels,
                               {},
                               kCoschedulingFields};

}  // namespace muster::kubernetes::known
