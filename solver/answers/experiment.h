// Solves variations of one cluster, to answer what would happen if it were changed.
//
// Each run copies the snapshot, applies changes to the copy, builds the problem and solves it as a cycle is solved, so
// that an answer is what the next plan would say, checked by the referee like any other plan.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "model/change/change.h"
#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"
#include "solver/portfolio/portfolio.h"

namespace muster::answers {

// One variation, solved. The problem refers to the snapshot, which refers to the text of the original.
struct Run {
  std::unique_ptr<Snapshot> snapshot;
  Problem problem;
  portfolio::Solution solution;

  // The gang with this name; none: the snapshot has no such gang. Cost: O(gangs) the first time.
  std::optional<GangIndex> find_gang(std::string_view name) const;
  // What the plan reports on the gang; null: all its pods run undisturbed, or it has none that could.
  const explain::GangReport* report_on(GangIndex gang) const;
  // Whether the gang has its minimum once the plan is carried out.
  bool admits(GangIndex gang) const;
  // Whether the levels are proven optimal that decide which pods run: those down to `seniority`. Then no better plan
  // admits another gang; an equally good one may.
  bool is_choice_proven() const;

 private:
  mutable std::unordered_map<std::string_view, GangIndex> gangs_;  // by name; filled when the first is asked for
};

struct ExperimentOptions {
  portfolio::SolveOptions solve;                              // its deadline is set by each run
  std::chrono::nanoseconds budget = std::chrono::seconds(1);  // of each run, from when the problem is built
  portfolio::Clock::time_point end = portfolio::Clock::time_point::max();  // no run goes on beyond it
};

class Experiment {
 public:
  // `original`: as it was read; build_problem has not been called for it. `portfolio` solves all runs, one after
  // another. Both outlive the object.
  Experiment(const Snapshot& original, portfolio::Portfolio& portfolio, ExperimentOptions options);
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  const Snapshot& original() const { return original_; }
  const ExperimentOptions& options() const { return options_; }

  // The plan with these changes. Errors: those of change::apply and of build_problem. Cost: a copy of the snapshot,
  // build_problem, and one solve, which ends at `end` if that comes before the end of `budgets` of its budgets.
  Result<std::unique_ptr<Run>> solve(std::span<const change::Change> changes,
                                     portfolio::Clock::time_point end = portfolio::Clock::time_point::max(),
                                     int budgets = 1) {
    return solve(Snapshot(original_), changes, end, budgets);
  }
  // The same of another snapshot by the greedy engine alone, for a guess.
  Result<std::unique_ptr<Run>> sketch(Snapshot snapshot, std::span<const change::Change> changes);
  // The same of another snapshot.
  Result<std::unique_ptr<Run>> solve(Snapshot snapshot, std::span<const change::Change> changes,
                                     portfolio::Clock::time_point end = portfolio::Clock::time_point::max(),
                                     int budgets = 1);

  std::int64_t runs() const { return runs_; }  // that were solved

 private:
  Result<std::unique_ptr<Run>> run(Snapshot snapshot, std::span<const change::Change> changes,
                                   portfolio::SolveOptions solve, portfolio::Clock::time_point end, int budgets);

  const Snapshot& original_;
  portfolio::Portfolio& portfolio_;
  ExperimentOptions options_;
  std::int64_t runs_ = 0;
};

}  // namespace muster::answers
