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
#include "solver/cells/budgets.h"

namespace muster::cells {

// What the plan of a cell does; none: it is missing. Indices are those of the whole.
using CellPlans = std::vector<std::optional<Plan>>;  // by CellIndex

struct MergeOptions {
  const Plan* before = nullptr;                           // an earlier plan of the whole; null: one that does nothing
  std::chrono::steady_clock::time_point fill_until = {};  // passed: nothing is filled up
  int threads = 1;
};

struct Merged {
  Plan plan;
  Levels levels;
  std::vector<std::size_t> refused;  // cells of which nothing was taken, as the referee found
  std::vector<std::string> reasons;  // of these, for people
};

// Takes of each cell the better of its plan and what `before` does there alone, and evicts stale gangs that run in
// several cells. The referee judges the whole; what it does not pass is left out, cell by cell. Then greedy places on
// all nodes what waits: gangs that are in no cell, that had no room in theirs, or whose cell has no plan; it also
// evicts for them, and reclaims shares of the whole. Never worse than `before`, which the referee has passed. Cost:
// that of the referee, in vain that of one call for each cell, and greedy's until `fill_until`.
Merged merge(const Problem& problem, const FairShares& shares, const Dealing& dealing, const CellPlans& plans,
             const MergeOptions& options);

// Improves the plan by a search over all nodes, so that gangs which one cell had no room for take what others left. The
// same levels or better ones. Cost: the time until `until`.
void improve(const Problem& problem, const FairShares& shares, Merged& merged,
             std::chrono::steady_clock::time_point until, int threads);

}  // namespace muster::cells
