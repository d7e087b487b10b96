// What would start the first gangs that a plan leaves waiting, as far as the time of its line goes.
#pragma once

#include <vector>

#include "io/muster_v1/plan_line.h"
#include "model/snapshot/snapshot.h"
#include "solver/portfolio/portfolio.h"

namespace muster::cli {

struct RemedyOptions {
  std::int64_t gangs = 0;  // at most; those of the highest priority first, then the more senior ones
  portfolio::Clock::time_point end = portfolio::Clock::time_point::max();  // only if a clock counts
};

// The smallest remedy of each. Gangs for which the time ends first are left out. `snapshot`: that the solution is
// of, after build_problem; copies of it are changed and solved. Cost: a solve for each that is tried.
std::vector<muster_v1::RemedyRecord> line_remedies(const Snapshot& snapshot, const portfolio::Solution& solution,
                                                   portfolio::Portfolio& portfolio,
                                                   const portfolio::SolveOptions& solve, const RemedyOptions& options);

}  // namespace muster::cli
