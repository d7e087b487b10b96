// A snapshot and the plans made for it, as a report page draws them: before, after, and the decisions.
#pragma once

#include <string>
#include <vector>

#include "io/report/cluster_plan.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::reporting {

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
