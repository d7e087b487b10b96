// A plan in the shapes that others take: objects for the Kubernetes API server, patches, deltas. See docs/export.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/export_cluster.h"
#include "io/plan_line.h"
#include "model/error.h"

namespace muster {

enum class ExportFormat : std::uint8_t { kBindings, kPatches, kVolcano, kKai, kDeltas };

// What may be carried out when: placements that wait for nothing; evictions, those of moves included; placements that
// wait for evictions or for pods on their way out, and the new places of moved pods.
enum class ExportPhase : std::uint8_t { kNow, kEvictions, kAfterEvictions, kAll };

// Whether Bindings are written for pods that share devices, which a Binding does not reserve.
enum class SharedDevices : std::uint8_t { kLeaveOut, kAllow };

struct ExportOptions {
  ExportFormat format = ExportFormat::kBindings;
  ExportPhase phase = ExportPhase::kAll;
  std::vector<std::string> gates = {};  // scheduling gates that patches take away; empty: all that there are
  SharedDevices shared = SharedDevices::kLeaveOut;
};

struct ExportedPlan {
  std::string text;  // one object a line, each with its line feed; phase after phase, each in the order of the plan
  // What the reader of the objects should know: what other phases hold, what the format cannot say. A sentence each.
  std::vector<std::string> remarks;
};

// Requires a plan with names, and one that the referee passes where the cluster is known. Errors, each with the path in
// the plan line: InvalidValue, a pod whose name cannot be one of Kubernetes; MissingUid, for KAI a pod of which no
// Kubernetes object tells. Cost: O(placements + evictions).
Result<ExportedPlan> export_plan(const ReadPlan& plan, const ExportCluster& cluster, const ExportOptions& options);

}  // namespace muster
