// What a cycle knows before its first engine: the problem, what is asked for, and what follows from them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "solver/budget/time_plan.h"
#include "solver/lp/sum_bounds.h"
#include "solver/portfolio/solution.h"

namespace muster::portfolio {

// Refers to the snapshot, the problem and the options, which outlive it. Stays where it is.
class CycleTask {
 public:
  CycleTask(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options);
  CycleTask(const CycleTask&) = delete;
  CycleTask& operator=(const CycleTask&) = delete;

  const Snapshot& snapshot() const { return snapshot_; }
  const Problem& problem() const { return problem_; }
  const SolveOptions& options() const { return options_; }
  const std::vector<LevelId>& ids() const { return ids_; }  // of the levels
  const FairShares& shares() const { return shares_; }
  const InstanceSize& size() const { return size_; }
  const lp::SumBounds& sums() const { return sums_; }
  const std::vector<std::int64_t>& trivial() const { return trivial_; }  // bounds of the levels

  bool has_clock() const { return !options_.deterministic; }
  bool may_search() const { return options_.engine == Engine::kAuto; }
  bool has_milp() const { return options_.engine != Engine::kGreedy; }
  bool has_stage(std::string_view name) const { return !options_.left_out.contains(name); }
  // Every pending pod has a value in the level `work`.
  bool counts_all() const;

  // Before trivial() and sums() are asked for anything. Cost: O(pods x levels); may run beside greedy.
  void find_trivial();

 private:
  const Snapshot& snapshot_;
  const Problem& problem_;
  const SolveOptions& options_;
  const std::vector<LevelId> ids_;
  const FairShares shares_;
  const InstanceSize size_;
  std::vector<std::int64_t> trivial_;
  const lp::SumBounds sums_;
};

}  // namespace muster::portfolio
