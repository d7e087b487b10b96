// HAMi: hami.io, and the resources by which its pods request parts of devices.
#include <array>

#include "io/kubernetes/known/dialects.h"

namespace muster::kubernetes::known {

namespace {

constexpr std::string_view kCards = "which cards its pods may have";
constexpr std::string_view kSplit = "how many pods share a card";

constexpr std::array<KeyRow, 53> kAnnotations = {{
    {kAll, "hami.io/amd-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/amd-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/aws-neuron-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/bind-phase", {Treatment::kHarmless}},
    {kAll, "hami.io/bind-time", {Treatment::kHarmless}},
    {kAll, "hami.io/cambricon-mlu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/cambricon-mlu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/dcu-devices-allocated", {Treatment::kRead}},
    {kAll, "hami.io/dcu-devices-to-allocate", {Treatment::kHarmless}},
    {kNodes, "hami.io/device-cordon", {Treatment::kRead}},
    {kAll, "hami.io/device-scoring-weights", {Treatment::kHarmless}},
    {kAll, "hami.io/enflame-gcu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/enflame-gcu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/enflame-vgpu-devices-allocated", {Treatment::kHarmless}},
    {kPods, "hami.io/gpu-scheduler-policy", {Treatment::kIgnored, kCards, "binpack"}},
    {kAll, "hami.io/kunlun-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-gpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-gpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-sgpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-sgpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/mthreads-vgpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/mthreads-vgpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/mutex.lock", {Treatment::kHarmless}},
    {kPods, "hami.io/no-use-xpu-uuid", {Treatment::kHeld, kCards}},
    {kNodes, "hami.io/node-amd-register", {Treatment::kHeld, kSplit}},
    {kNodes, "hami.io/node-biren-register", {Treatment::kHeld, kSplit}},
    {kNodes, "hami.io/node-dcu-register", {Treatment::kRead}},
    {kNodes, "hami.io/node-*", {Treatment::kHeld, kSplit}},
    {kAll, "hami.io/node-handshake", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-biren", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-dcu", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-va", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-xpu", {Treatment::kHarmless}},
    {kNodes, "hami.io/node-mlu-register", {Treatment::kHeld, kSplit}},
    {kNodes, "hami.io/node-nvidia-register", {Treatment::kRead}},
    {kAll, "hami.io/node-nvidia-score", {Treatment::kHarmless}},
    {kNodes, "hami.io/node-register-xpu", {Treatment::kHeld, kSplit}},
    {kPods, "hami.io/node-scheduler-policy", {Treatment::kIgnored, "which nodes pods prefer"}},
    {kNodes, "hami.io/node-va-register", {Treatment::kHeld, kSplit}},
    {kAll, "hami.io/scheduler-role", {Treatment::kHarmless}},
    {kPods, "hami.io/use-xpu-uuid", {Treatment::kHeld, kCards}},
    {kAll, "hami.io/vgpu-devices-allocated", {Treatment::kRead}},
    {kAll, "hami.io/vgpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-mig-allocations", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-node", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-time", {Treatment::kHarmless}},
    {kAll, "hami.io/xpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/xpu-devices-to-allocate", {Treatment::kHarmless}},
    {kPods, "nvidia.com/nouse-gputype", {Treatment::kHeld, kCards}},
    {kPods, "nvidia.com/nouse-gpuuuid", {Treatment::kHeld, kCards}},
    {kPods, "nvidia.com/use-gputype", {Treatment::kHeld, kCards}},
    {kPods, "nvidia.com/use-gpuuuid", {Treatment::kHeld, kCards}},
    {kPods, "nvidia.com/vgpu-mode", {Treatment::kHeld, kSplit, "hami-core"}},
}};

constexpr std::array<KeyRow, 35> kLabels = {{
    {kAll, "hami.io/amd-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/amd-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/aws-neuron-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/bind-phase", {Treatment::kHarmless}},
    {kAll, "hami.io/bind-time", {Treatment::kHarmless}},
    {kAll, "hami.io/cambricon-mlu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/cambricon-mlu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/dcu-devices-allocated", {Treatment::kRead}},
    {kAll, "hami.io/dcu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/device-scoring-weights", {Treatment::kHarmless}},
    {kAll, "hami.io/enflame-gcu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/enflame-gcu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/enflame-vgpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/kunlun-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-gpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-gpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-sgpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/metax-sgpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/mthreads-vgpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/mthreads-vgpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/mutex.lock", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-biren", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-dcu", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-va", {Treatment::kHarmless}},
    {kAll, "hami.io/node-handshake-xpu", {Treatment::kHarmless}},
    {kAll, "hami.io/node-nvidia-score", {Treatment::kHarmless}},
    {kAll, "hami.io/scheduler-role", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-devices-allocated", {Treatment::kRead}},
    {kAll, "hami.io/vgpu-devices-to-allocate", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-mig-allocations", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-node", {Treatment::kHarmless}},
    {kAll, "hami.io/vgpu-time", {Treatment::kHarmless}},
    {kAll, "hami.io/xpu-devices-allocated", {Treatment::kHarmless}},
    {kAll, "hami.io/xpu-devices-to-allocate", {Treatment::kHarmless}},
}};

constexpr std::array<KeyRow, 4> kResources = {{
    {kPods, "nvidia.com/gpucores", {Treatment::kRead}},
    {kPods, "nvidia.com/gpumem", {Treatment::kRead}},
    {kPods, "nvidia.com/gpumem-percentage", {Treatment::kRead}},
    {kPods, "nvidia.com/priority", {Treatment::kHarmless}},
}};

}  // namespace

const Dialect kHami = {"HAMi", "hami.io", "", kAnnotations, kLabels, kResources, {}};

}  // namespace muster::kubernetes::known
