// The cluster as a plan leaves it, as a record.
#pragma once

#include <cstdint>
#include <optional>

#include "datasets/simulation/job_table.h"
#include "datasets/simulation/records.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::simulation {

// The value of the fragmentation level that the plan reaches; none: the policy is to spread. Cost: that of `evaluate`.
std::optional<std::int64_t> fragmentation_of(const Problem& problem, const FairShares& shares, const Plan& plan);

// Without the number, the capacity and the fragmentation. Requires that the plan has been carried out on the jobs, and
// that the problem is the one that it was made for. Cost: O(pods + queues).
CycleRecord cycle_record(const JobTable& jobs, const Problem& problem, const FairShares& shares, const Plan& plan);

}  // namespace muster::simulation
