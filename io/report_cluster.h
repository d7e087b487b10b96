// A snapshot and the plans made for it, as a report page draws them: before, after, and what was decided.
#pragma once

#include <string>
#include <vector>

#include "io/plan_line.h"
#include "model/fair_share.h"
#include "model/problem.h"
#include "model/referee.h"

namespace muster {

struct ReportedPlan {
  std::string label;  // which of several plans of one snapshot it is
  ReadPlan plan;
  std::vector<Violation> violations;  // what the referee finds; drawn as a warning
};

struct ReportedCluster {
  const Problem& problem;
  const FairShares& shares;
  const std::vector<ReportedPlan>& plans;  // well formed, as model/referee.h says
};

// Appends one JSON object; its keys are told in io/report_page/README.md. Everything refers to tables by position.
// Units: GPUs as decimals, cpu in thousandths of a core, memory in bytes, device memory in MiB, shares in millionths of
// a device, waiting in seconds. Pods that are nowhere before and after are counted in their gang only.
// Cost: O(nodes + pods + plans), and the levels of the plan that places nothing.
void write_cluster(const ReportedCluster& cluster, std::string& out);

}  // namespace muster
