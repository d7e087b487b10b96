// A plan that was made before, as the run that a question starts from.
#pragma once

#include <memory>
#include <string>

#include "model/snapshot/snapshot.h"
#include "solver/answers/experiment.h"

namespace muster::cli {

// The last plan line of the file, which answers the snapshot. The referee checks it, so that what is explained is a
// plan that holds. Its levels are computed anew; of its proof, the line is believed. Reasons that need the nodes to be
// looked at are not in its report: see settle_reason. Errors: NoInput, InvalidPlan, and those of read_plan and
// build_problem. Cost: build_problem and O(pods + nodes).
Result<std::unique_ptr<answers::Run>> run_of_plan(const Snapshot& original, const std::string& file);

// The report on the gang with its reason, if there was no time for it. Cost: O(nodes x pod classes of the gang).
void settle_reason(answers::Run& run, GangIndex gang, const FairShares& shares);

}  // namespace muster::cli
