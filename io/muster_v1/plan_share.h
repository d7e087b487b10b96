// The part of one device that a pod takes, as written in a plan line.
#pragma once

#include <cstdint>

#include "model/problem/problem.h"

namespace muster::muster_v1 {

inline constexpr std::int64_t kWholeDevice = 1'000'000;

// Millionths of a device: 10^6 for a whole one, the fraction, or a memory request's part of the device's MiB, rounded
// to the nearest, halves up. 0 if the device's memory is unknown, which no rule lets a memory request meet.
inline std::int64_t device_share(const GpuRequest& request, std::int64_t device_memory_mib) {
  switch (request.kind) {
    case GpuRequestKind::kFraction:
      return request.share;
    case GpuRequestKind::kMemory: {
      if (device_memory_mib == 0) return 0;
      const auto wide = static_cast<__int128>(request.share) * 2 * kWholeDevice + device_memory_mib;
      return static_cast<std::int64_t>(wide / (2 * static_cast<__int128>(device_memory_mib)));
    }
    case GpuRequestKind::kWhole:
    case GpuRequestKind::kNone:
      break;
  }
  return kWholeDevice;
}

}  // namespace muster::muster_v1
