// What a pod requests of one node, or an upper bound of what is free on one of several nodes: enough to reject most
// pods that fit nowhere.
#pragma once

#include <cstdint>

#include "model/problem/problem.h"

namespace muster::local_search {

struct CoarseAmounts {
  static constexpr std::int64_t kDevice = 1'000'000;

  Amount cpu = 0, memory = 0;
  std::int64_t share = 0;  // millionths of one device
  bool exceeds(const CoarseAmounts& most) const { return cpu > most.cpu || memory > most.memory || share > most.share; }
};

inline CoarseAmounts coarse_request(const PodClass& pod_class) {
  std::int64_t share = 0;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) share = CoarseAmounts::kDevice;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) share = pod_class.gpu.share;
  return {pod_class.request[kCpu.value()], pod_class.request[kMemory.value()], share};
}

}  // namespace muster::local_search
