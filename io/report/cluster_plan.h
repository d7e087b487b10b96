// One of the plans made for a snapshot, as a report page draws it.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/json/json_writer.h"
#include "io/muster_v1/plan_line.h"
#include "model/problem/problem.h"
#include "model/referee/rule.h"

namespace muster::reporting {

struct ReportedPlan {
  std::string label;  // which of several plans of one snapshot it is
  muster_v1::ReadPlan plan;
  std::vector<referee::Violation> violations;  // what the referee finds; drawn as a warning
};

using PodPositions = std::unordered_map<PodIndex, std::size_t>;

struct ClusterPlan {
  const Problem& problem;
  const PodPositions& positions;  // in the page's table of pods; of all pods that the plan places or evicts
  const ReportedPlan& reported;
};

// Appends one JSON object; its keys are documented in io/report/page/README.md. Cost: O(plan + gangs + nodes).
void write_cluster_plan(const ClusterPlan& plan, json::JsonWriter& json);

}  // namespace muster::reporting
