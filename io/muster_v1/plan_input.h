// A plan line while it is read: what the reader of its keys hands to the resolver of its names.
#pragma once

#include <cstdint>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/reading.h"
#include "io/muster_v1/plan_line.h"

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

}  // namespace muster::muster_v1
