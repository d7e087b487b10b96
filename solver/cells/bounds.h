// What is proven of a plan that was made in parts: bounds of the levels of the whole cluster.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"

namespace muster::cells {

using LevelBounds = std::vector<std::optional<std::int64_t>>;  // as in muster::explain

struct ProofOptions {
  std::chrono::steady_clock::time_point until;
  int threads = 1;
  std::string worker_program;  // see cbc::BackendOptions
};

struct ProvenBounds {
  LevelBounds bounds;
  std::vector<std::string> defects;  // of a worker, or of a bound that the plan exceeds
};

// Bounds by sums; of the first level that these do not settle, also the Lagrangian bound at common prices of pods: what
// demand gains beyond its prices, and the sum over all nodes of the most that each could earn at them. It holds at any
// prices (Geoffrion 1974); column generation on grids of multipliers looks for good ones until the time is up. The
// second kind only if no running pod may leave. Requires the levels of a plan of the problem.
ProvenBounds prove(const Problem& problem, const FairShares& shares, const Levels& levels, const ProofOptions& options);

}  // namespace muster::cells
