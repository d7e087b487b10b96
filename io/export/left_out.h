// The parts of a plan that an export leaves out, since its objects could not carry them out.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "io/export/cluster.h"
#include "io/export/options.h"
#include "io/muster_v1/plan_line.h"

namespace muster::exporting {

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
