#include "heuristics/preemption/inputs.h"

#include "model/base/require.h"
#include "model/base/saturating.h"

namespace muster::preemption {

namespace {

// The minimum, in millionths of a device, that a pod of the class takes, wherever it is.
MicroGpu least_devices(const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kNone || pod_class.gpu.kind == GpuRequestKind::kMemory) return 0;
  return pod_class.gpu.devices * (pod_class.gpu.kind == GpuRequestKind::kFraction ? pod_class.gpu.share : 1'000'000);
}

}  // namespace

bool devices_fit_total(const ClusterState& state, const PodClass& pod_class, std::int64_t pods) {
  MUSTER_REQUIRE(pods >= 0);
  return saturating_multiply(least_devices(pod_class), pods) <= state.nodes().free_devices_total();
}

bool fits_total(const ClusterState& state, const PodClass& pod_class) {
  for (std::size_t r = 0; r < state.problem().resource_count; ++r) {
    if (pod_class.request[r] > 0 && state.nodes().free_total()[r] < pod_class.request[r]) return false;
  }
  return devices_fit_total(state, pod_class, 1);
}

}  // namespace muster::preemption
