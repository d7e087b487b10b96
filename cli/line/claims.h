// The claims that a plan line makes about itself, recomputed from the snapshot and the plan alone, and compared.
#pragma once

#include <string>
#include <vector>

#include "io/muster_v1/plan_line.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::cli {

struct FalseClaim {
  std::string subject;  // "objective share 100", "gang ns/job", "solver"; as in the line, not escaped
  std::string message;  // what is claimed, what is
};

// Gangs: that every gang with a pod that is pending, placed, moved or evicted has one entry, with the right phase and
// counts.
std::vector<FalseClaim> check_gang_claims(const Problem& problem, const muster_v1::ReadPlan& read);

// Levels: that all are there, in order; that each value is the plan's; that no bound is worse than the value. The
// solver's statement: that the gap is that of the levels, and that a plan called optimal has reached every bound.
// Requires a plan that the referee passes.
std::vector<FalseClaim> check_level_claims(const Problem& problem, const FairShares& shares,
                                           const muster_v1::ReadPlan& read);

}  // namespace muster::cli
