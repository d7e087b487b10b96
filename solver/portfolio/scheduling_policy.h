// The scheduler in a simulation: Muster's engines, or others to compare with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/problem/histories.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/portfolio/portfolio.h"

namespace muster::portfolio {

struct PolicyOptions {
  std::string name;  // one of policy_names()
  std::int32_t threads = 1;
  std::uint64_t seed = 1;
  Nanoseconds budget = 0;  // of a cycle; 0: work limits in place of the clock
};

// In the order of the help.
const std::vector<std::string_view>& policy_names();
// What the policy gets to know of durations. Muster's engines know expected ones, and so does EASY backfilling.
KnownDurations known_durations(std::string_view policy);

class SchedulingPolicy {
 public:
  // `worker_program`: for Muster's engines.
  SchedulingPolicy(PolicyOptions options, std::string worker_program);

  // A plan that the referee passes. Without a budget it follows from the snapshot alone. `defects` lists what the
  // referee rejected; then the plan is empty.
  Plan decide(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
              std::vector<std::string>& defects);

 private:
  Plan propose(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
               std::vector<std::string>& defects);

  PolicyOptions options_;
  Portfolio portfolio_;
};

}  // namespace muster::portfolio
