// One plan of the whole cluster out of the plans of its cells.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/cells/cells.h"

namespace muster::cells {

// What the plan of a cell does; none: it is missing. Indices are those of the whole.
using CellPlans = std::vector<std::optional<Plan>>;  // by CellIndex

struct Merged {
  Plan plan;
  Levels levels;
  std::vector<std::size_t> refused;  // cells of which nothing was taken, as the referee found
  std::vector<std::string> reasons;  // of these, for people
  std::size_t kept = 0;              // cells in which the earlier plan is better, or the only one
};

// Takes of each cell the better of its plan and what `before` (an earlier plan of the whole, which the referee has
// passed; null: one that does nothing) does there, and evicts stale gangs that run in several cells. The referee judges
// the whole; what it does not pass is left out, cell by cell. Never worse than `before`. Cost: that of the referee; in
// vain, that of one call for each cell.
Merged merge(const Problem& problem, const FairShares& shares, const Dealing& dealing, const CellPlans& plans,
             const Plan* before, int threads);

// Improves the plan by a search over all nodes, so that gangs which one cell had no room for take what others left. The
// same levels or better ones. Cost: the time until `until`.
void improve(const Problem& problem, const FairShares& shares, Merged& merged,
             std::chrono::steady_clock::time_point until, int threads);

}  // namespace muster::cells
