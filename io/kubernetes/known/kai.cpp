// KAI: kai.scheduler, run.ai.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kGroup = "pod-group-name";  // with it, KAI has read the key when it made the PodGroup
constexpr std::string_view kNuma = "on which node its pods fit by NUMA zone";
constexpr std::string_view kTogether = "how many pods must start together";
constexpr std::string_view kPacked = "on which nodes pods are packed";

constexpr std::array<KeyRow, 29> kKaiAnnotations = {{
    {kPods, "gpu-fraction", {Treatment::kRead}},
    {kPods, "gpu-fraction-container-name", {Treatment::kHarmless}},
    {kPods, "gpu-fraction-num-devices", {Treatment::kRead}},
    {kPods, "gpu-memory", {Treatment::kRead}},
    {kOwners, "kai.scheduler/batch-min-member", {Treatment::kRead}},
    {kPods, "kai.scheduler/batch-min-member", {Treatment::kHarmless}},
    {kGroups, "kai.scheduler/last-eviction-timestamp", {Treatment::kRead}},
    {kGroups, "kai.scheduler/last-start-timestamp", {Treatment::kHarmless}},
    {kPods, "kai.scheduler/numa-placement-observed", {Treatment::kHarmless}},
    {kPods, "kai.scheduler/numa-placement-predicted", {Treatment::kHarmless}},
    {kPods | kOwners, "kai.scheduler/preemption-delay", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/segment-size", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/segment-topology-preferred-placement", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/segment-topology-required-placement", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/skip-podgrouper", {Treatment::kRead}},
    {kGroups, "kai.scheduler/stale-podgroup-timestamp", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/staleness-grace-period", {Treatment::kRead}},
    {kAll, "kai.scheduler/top-owner-metadata", {Treatment::kHarmless}},
    {kPods | kOwners, "kai.scheduler/topology", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/topology-preferred-placement", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/topology-required-placement", {Treatment::kRead}},
    {kPods, "mps", {Treatment::kHarmless}},
    {kPods, "pod-group-name", {Treatment::kRead}},
    {kPods, "received-resource-type", {Treatment::kHarmless}},
    {kAll, "run.ai/karta-group", {Treatment::kHarmless}},
    {kAll, "run.ai/karta-kind", {Treatment::kHarmless}},
    {kAll, "run.ai/karta-version", {Treatment::kHarmless}},
    {kPods, "run.ai/reserve_for_gpu_index", {Treatment::kHarmless}},
    {kAll, "runai/shared-gpu-configmap", {Treatment::kHarmless}},
}};

constexpr std::array<KeyRow, 20> kKaiLabels = {{
    {kAll, "kai.scheduler/accounting", {Treatment::kHarmless}},
    {kPods | kOwners, "kai.scheduler/batch-min-member", {Treatment::kHeld, kTogether, "1", kGroup}},
    {kNodes | kPods | kGroups | kOwners | kQueues, "kai.scheduler/node-pool", {Treatment::kRead}},
    {kPods, "kai.scheduler/podgroup", {Treatment::kRead}},
    {kPods | kOwners, "kai.scheduler/preemptibility", {Treatment::kRead}},
    {kGroups, "kai.scheduler/preemptibility", {Treatment::kHarmless}},
    {kPods | kOwners | kGroups, "kai.scheduler/queue", {Treatment::kRead}},
    {kPods, "kai.scheduler/subgroup-name", {Treatment::kRead}},
    {kPods, "kai.scheduler/task-priority", {Treatment::kIgnored, "which pods of a gang start first and leave last"}},
    {kAll, "kai.scheduler/type", {Treatment::kHarmless}},
    {kPods | kOwners, "priorityClassName", {Treatment::kRead}},
    {kNodes, "run.ai/fake.gpu", {Treatment::kHarmless}},
    {kNodes, "run.ai/gpu.memory", {Treatment::kHarmless}},
    {kAll, "run.ai/karta-group", {Treatment::kHarmless}},
    {kAll, "run.ai/karta-kind", {Treatment::kHarmless}},
    {kAll, "run.ai/karta-version", {Treatment::kHarmless}},
    {kPods, "runai-gpu-group", {Treatment::kRead}},
    {kPods, "runai-gpu-group/*", {Treatment::kRead}},
    {kPods | kGroups, "runai/queue", {Treatment::kRead}},
    {kOwners, "runai/queue", {Treatment::kHarmless}},
}};

constexpr std::array<FieldRow, 47> kKaiFields = {{
    {"PodGroup", "spec.markUnschedulable", {Treatment::kHarmless}},
    {"PodGroup", "spec.minMember", {Treatment::kRead}},
    {"PodGroup", "spec.minSubGroup", {Treatment::kRead}},
    {"PodGroup", "spec.preemptibility", {Treatment::kRead}},
    {"PodGroup", "spec.preemptionDelay", {Treatment::kRead}},
    {"PodGroup", "spec.priorityClassName", {Treatment::kRead}},
    {"PodGroup", "spec.queue", {Treatment::kRead}},
    {"PodGroup", "spec.schedulingBackoff", {Treatment::kHarmless}},
    {"PodGroup", "spec.stalenessGracePeriod", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups", {Treatment::kHeld, "how its subgroups are placed"}},
    {"PodGroup", "spec.subGroups.minMember", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups.minSubGroup", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups.name", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups.parent", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups.topologyConstraint.preferredTopologyLevel", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups.topologyConstraint.requiredTopologyLevel", {Treatment::kRead}},
    {"PodGroup", "spec.subGroups.topologyConstraint.topology", {Treatment::kRead}},
    {"PodGroup", "spec.topologyConstraint.preferredTopologyLevel", {Treatment::kRead}},
    {"PodGroup", "spec.topologyConstraint.requiredTopologyLevel", {Treatment::kRead}},
    {"PodGroup", "spec.topologyConstraint.topology", {Treatment::kRead}},
    {"Queue", "spec.displayName", {Treatment::kHarmless}},
    {"Queue", "spec.parentQueue", {Treatment::kRead}},
    {"Queue", "spec.preemptMinRuntime", {Treatment::kRead}},
    {"Queue", "spec.priority", {Treatment::kRead}},
    {"Queue", "spec.reclaimMinRuntime", {Treatment::kRead}},
    {"Queue", "spec.resources.cpu", {Treatment::kRead}},
    {"Queue", "spec.resources.gpu", {Treatment::kRead}},
    {"Queue", "spec.resources.memory", {Treatment::kRead}},
    {"BindRequest", "spec.backoffLimit", {Treatment::kHarmless}},
    {"BindRequest", "spec.extendedResourceClaimAllocation", {Treatment::kIgnored, "which devices are in use"}},
    {"BindRequest", "spec.podName", {Treatment::kRead}},
    {"BindRequest", "spec.predictedNUMAZones", {Treatment::kIgnored, kNuma}},
    {"BindRequest", "spec.receivedGPU", {Treatment::kHarmless}},
    {"BindRequest", "spec.receivedResourceType", {Treatment::kHarmless}},
    {"BindRequest", "spec.resourceClaimAllocations", {Treatment::kIgnored, "which devices are in use"}},
    {"BindRequest", "spec.selectedGPUGroups", {Treatment::kRead}},
    {"BindRequest", "spec.selectedNode", {Treatment::kRead}},
    {"Topology", "spec.levels.alias", {Treatment::kRead}},
    {"Topology", "spec.levels.nodeLabel", {Treatment::kRead}},
    {"SchedulingShard", "spec", {Treatment::kIgnored, "the settings of a scheduler"}},
    {"SchedulingShard", "spec.minRuntime.preemptMinRuntime", {Treatment::kRead}},
    {"SchedulingShard", "spec.minRuntime.reclaimMinRuntime", {Treatment::kRead}},
    {"SchedulingShard", "spec.partitionLabelValue", {Treatment::kRead}},
    {"SchedulingShard", "spec.placementStrategy.cpu", {Treatment::kIgnored, kPacked, "binpack"}},
    {"SchedulingShard", "spec.placementStrategy.gpu", {Treatment::kIgnored, kPacked, "binpack"}},
    {"Config", "", {Treatment::kHarmless}},
    {"Config", "spec", {Treatment::kHarmless}},
}};

}  // namespace

const Dialect kKai = {"KAI",
                      "kai.scheduler run.ai runai runai-gpu-group",
                      "scheduling.run.ai kai.scheduler",
                      kKaiAnnotations,
                      kKaiLabels,
                      {},
                      kKaiFields};

}  // namespace muster::kubernetes::known
