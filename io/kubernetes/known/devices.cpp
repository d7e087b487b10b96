// Labels, annotations and resources of devices: nvidia.com, aliyun.com, resource.k8s.io.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kShare = "which GPUs its pods share";
constexpr std::string_view kShares = "how fairly queues share these devices";
constexpr std::string_view kClaims = "which devices pods get";

constexpr std::array<KeyRow, 5> kDeviceAnnotations = {{
    {kPods, "ALIYUN_COM_GPU_MEM_IDX", {Treatment::kRead}},
    {kNodes, "nvidia.com/*", {Treatment::kHarmless}},
    {kOwners, "nvidia.com/*", {Treatment::kHarmless}},
    {kAll, "resource.kubernetes.io/*", {Treatment::kHarmless}},
    {kPods, "tencent.com/predicate-gpu-idx-0", {Treatment::kRead}},
}};

constexpr std::array<KeyRow, 8> kDeviceLabels = {{
    {kNodes, "nvidia.com/*", {Treatment::kHarmless}},
    {kOwners, "nvidia.com/*", {Treatment::kHarmless}},
    {kPods, "nvidia.com/*", {Treatment::kHarmless}},
    {kNodes, "nvidia.com/gpu.count", {Treatment::kRead}},
    {kNodes, "nvidia.com/gpu.memory", {Treatment::kRead}},
    {kNodes, "nvidia.com/gpu.product", {Treatment::kRead}},
    {kNodes, "nvidia.com/gpu.replicas", {Treatment::kRead}},
    {kAll, "resource.kubernetes.io/*", {Treatment::kHarmless}},
}};

constexpr std::array<KeyRow, 7> kResources = {{
    {kPods, "aliyun.com/gpu-core.percentage", {Treatment::kHeld, kShare}},
    {kPods, "aliyun.com/gpu-count", {Treatment::kIgnored, kShares}},
    {kPods, "aliyun.com/gpu-mem", {Treatment::kRead}},
    {kPods, "amd.com/gpu", {Treatment::kIgnored, kShares}},
    {kPods | kNodes, "nvidia.com/*", {Treatment::kHarmless}},
    {kPods, "tencent.com/vcuda-core", {Treatment::kRead}},
    {kPods, "tencent.com/vcuda-memory", {Treatment::kRead}},
}};

constexpr std::array<FieldRow, 11> kDeviceFields = {{
    {"ResourceClaim", "", {Treatment::kHarmless}},
    {"ResourceClaim", "spec", {Treatment::kHarmless}},
    {"ResourceClaimTemplate", "", {Treatment::kHarmless}},
    {"ResourceClaimTemplate", "spec", {Treatment::kHarmless}},
    {"ResourceSlice", "", {Treatment::kHarmless}},
    {"ResourceSlice", "spec", {Treatment::kHarmless}},
    {"DeviceTaintRule", "", {Treatment::kHarmless}},
    {"DeviceTaintRule", "spec", {Treatment::kHarmless}},
    {"DeviceClass", "", {Treatment::kHarmless}},
    {"DeviceClass", "spec", {Treatment::kHarmless}},
    {"DeviceClass",
     "spec.extendedResourceName",
     {Treatment::kIgnored, "which nodes have GPUs that pods request as an extended resource of a DeviceClass"}},
}};

}  // namespace

const Dialect kDevices = {
    "Devices",    "nvidia.com resource.k8s.io", "resource.k8s.io", kDeviceAnnotations, kDeviceLabels, kResources,
    kDeviceFields};

}  // namespace muster::kubernetes::known
