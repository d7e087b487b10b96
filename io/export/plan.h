// A plan in formats of other systems: objects for the Kubernetes API server, patches, deltas. See docs/export.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/export/cluster.h"
#include "io/export/options.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/error.h"

namespace muster::exporting {

// One object, for programs that send it themselves.
struct ExportedObject {
  std::string text;                       // without a line feed
  ExportPhase phase = ExportPhase::kNow;  // kNow, kEvictions or kAfterEvictions
  std::string namespace_name, name, uid;  // of the pod; no uid: it is not known
  std::string node;                       // where the pod is placed, or evicted from
  std::string gang;    // of the pod that is placed; of an eviction, the one it makes room for, empty if there is none
  std::string victim;  // of an eviction: the gang that the pod belongs to
};

struct ExportedPlan {
  // Phase after phase, each in the order of the plan.
  std::vector<ExportedObject> objects;
  std::string text() const;  // one object a line, each with its line feed
  // Notes for the reader of the objects: what other phases hold, what the format cannot express. A sentence each.
  std::vector<std::string> remarks;
};

// Requires a plan with names, and one that the referee passes if the cluster is known. Errors, each with the path in
// the plan line: InvalidValue, a pod whose name cannot be one of Kubernetes; MissingUid, for KAI a pod whose Kubernetes
// UID is not known. Cost: O(placements + evictions).
Result<ExportedPlan> export_plan(const muster_v1::ReadPlan& plan, const ExportCluster& cluster,
                                 const ExportOptions& options);

}  // namespace muster::exporting
