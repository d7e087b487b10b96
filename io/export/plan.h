// A plan in formats of other systems: objects for the Kubernetes API server, patches, deltas. See docs/export.md.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "io/export/cluster.h"
#include "io/export/objects.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/error_code.h"

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

// `id`: of the snapshot that the plan answers. Requires that the referee passes the plan if the cluster is known.
// Errors, each with the path in the plan line: InvalidValue, a pod whose name cannot be one of Kubernetes; MissingUid,
// for KAI a pod whose Kubernetes UID is not known. Cost: O(placements + evictions).
Result<ExportedPlan> export_plan(std::string_view id, const muster_v1::NamedPlan& plan, const ExportCluster& cluster,
                                 const ExportOptions& options);

// The parts of a plan that an export leaves out, since its objects could not carry them out.
//
// A Binding binds no volume claim and reserves no part of a device: a gang with a pod that needs either is left out as
// a whole. In all formats that bind, so is a gang with a pod of another scheduler than the one that places most pods of
// the plan. So are the evictions for such gangs, and what waits for a pod that is then not evicted. Cost: O(placements
// + evictions) for each gang that another one is left out for.
class LeftOut {
 public:
  LeftOut(const muster_v1::NamedPlan& plan, const ExportCluster& cluster, const ExportOptions& options);

  bool has(const muster_v1::NamedPlan::Placement& placement) const {
    return gangs_.contains(cluster_.gang(placement.pod));
  }
  // Whether the pod continues to run where it is, since the placement that it makes room for is left out.
  bool stays(std::string_view pod) const { return kept_.contains(pod); }

  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void leave_out_what_a_binding_lacks(const muster_v1::NamedPlan& plan, const ExportOptions& options);
  void leave_to_other_schedulers(const muster_v1::NamedPlan& plan);
  void leave_out_shared_nodes(const muster_v1::NamedPlan& plan);
  void follow(const muster_v1::NamedPlan& plan);

  const ExportCluster& cluster_;
  std::unordered_set<std::string_view> gangs_, kept_;
  std::vector<std::string> remarks_;
};

}  // namespace muster::exporting
