// A plan line while it is read: what the reader of its keys hands to the resolver of its names.
#pragma once

#include <cstdint>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/reading.h"
#include "io/muster_v1/plan_line.h"
#include "model/problem/problem.h"

namespace muster::muster_v1 {

// The values of a name and of the object that it names, kept until names can be resolved.
struct DeviceDraft {
  std::int64_t index = 0;
  json::JsonValue share;
};

struct PlacementDraft {
  json::JsonValue pod, node;
  std::vector<DeviceDraft> devices;
  std::vector<json::JsonValue> after;
  std::int64_t step = 0;
};

struct EvictionDraft {
  json::JsonValue pod, node, for_gang;
  EvictionReason reason = EvictionReason::kPreempt;
};

struct PlanInput : json::Reading {
  PlanInput(json::JsonDocument& parsed, StringPool& pool, ReadPlan& into)
      : json::Reading{parsed, false, &pool, {}}, out(into) {}
  ReadPlan& out;
  json::JsonValue error_object, gang_list;
  std::vector<PlacementDraft> placements;
  std::vector<EvictionDraft> evictions;
};

// The plan of the drafts, in `out.plan`; names are those of the problem's snapshot. False: `error` describes a name
// that it does not have, a pod that is listed twice, or a wrong share of a device.
[[nodiscard]] bool resolve_names(PlanInput& input, const Problem& problem);

// The drafts by their names, in `out.named`.
void keep_names(PlanInput& input);

// The part of one device that a pod takes, as written in a plan line.
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
