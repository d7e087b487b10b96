// Expected starts against actual ones.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/simulation/job_table.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::simulation {

// Keeps the expected start of each job that waits after a plan for the first time. Requires a problem with the
// positions of the snapshot now. Cost: that of forecast::expected_starts if there is such a job.
void keep_told_starts(const Problem& problem, const Plan& plan, JobTable& jobs);

// Of a job that was told a start and has started: both since it was submitted.
struct ToldWait {
  Nanoseconds told = 0, actual = 0;
};

// Ratio: told wait / actual wait; 1 if neither is longer than a period.
struct ToldStatistics {
  std::int64_t count = 0;
  double within_twice = 0;           // part with a ratio from 1/2 to 2
  double p10 = 0, p50 = 0, p90 = 0;  // of the ratio, by the nearest rank
};
// Cost: O(n log n).
ToldStatistics told_statistics_of(const std::vector<ToldWait>& waits, Nanoseconds period);

}  // namespace muster::simulation
