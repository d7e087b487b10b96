// What is proven of a plan that was made in parts: bounds of the levels of the whole cluster.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::cells {

using LevelBounds = std::vector<std::optional<std::int64_t>>;  // as in muster::explain

struct ProofOptions {
  std::chrono::steady_clock::time_point until;
  int threads = 1;
  std::string worker_program;  // see cbc::BackendOptions
};

struct ProvenPlan {
  Candidate plan;                    // the given one, or a better one that was found on the way
  LevelBounds bounds;                // of it
  std::vector<std::string> defects;  // of a worker, or of a bound that the plan exceeds
};

// Bounds by sums; of the first level that these do not settle, also the Lagrangian bound at common prices of pods: what
// demand gains beyond its prices, and the sum over all nodes of the most that each could earn at them. It holds at any
// prices (Geoffrion 1974); column generation on grids of multipliers looks for good ones until the time is up. If
// running pods may leave, it chooses gangs and victims instead (solver/choice/choice.h), which bounds all levels down
// to `evicted` and may find a better plan. Requires a plan that obeys the rules, and its levels.
ProvenPlan prove(const Problem& problem, const FairShares& shares, Candidate plan, const ProofOptions& options);

}  // namespace muster::cells
