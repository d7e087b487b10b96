// A snapshot and the plans made for it, as a report page draws them: before, after, and the decisions.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/json/json_writer.h"
#include "io/muster_v1/plan_line.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/referee/rule.h"

namespace muster::reporting {

// One of the plans made for a snapshot, as a report page draws it.
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

struct ReportedCluster {
  const Problem& problem;
  const FairShares& shares;
  const std::vector<ReportedPlan>& plans;  // well formed, as model/referee/referee.h defines
};

// Appends one JSON object; its keys are documented in io/report/page/README.md. Everything refers to tables by
// position. Units: GPUs as decimals, cpu in thousandths of a core, memory in bytes, device memory in MiB, shares in
// millionths of a device, waiting in seconds. Pods without a node before and after are counted in their gang only.
// Cost: O(nodes + pods + plans), and the levels of the plan that places nothing.
void write_cluster(const ReportedCluster& cluster, std::string& out);

}  // namespace muster::reporting
