#include "solver/answers/experiment.h"

#include <algorithm>
#include <utility>

#include "model/build/build_problem.h"

namespace muster::answers {

std::optional<GangIndex> Run::find_gang(std::string_view name) const {
  if (gangs_.empty()) {
    for (const GangIndex gang : problem.gangs.indices()) gangs_.emplace(problem.gangs[gang].name, gang);
  }
  const auto found = gangs_.find(name);
  return found == gangs_.end() ? std::nullopt : std::optional(found->second);
}

const explain::GangReport* Run::report_on(GangIndex gang) const {
  const auto& gangs = solution.report.gangs;
  const auto found = std::ranges::lower_bound(gangs, gang, {}, &explain::GangReport::gang);
  return found == gangs.end() || found->gang != gang ? nullptr : &*found;
}

bool Run::admits(GangIndex gang) const {
  const explain::GangReport* report = report_on(gang);
  if (!report) return true;
  switch (report->phase) {
    case explain::GangPhase::kRunning:
    case explain::GangPhase::kScheduled:
    case explain::GangPhase::kWaiting:
      return true;
    default:
      return false;
  }
}

bool Run::is_choice_proven() const {
  for (const explain::LevelReport& level : solution.report.objective) {
    if (level.bound != level.value) return false;
    if (level.id.kind == LevelKind::kSeniority) break;
  }
  return true;
}

Experiment::Experiment(const Snapshot& original, portfolio::Portfolio& portfolio, ExperimentOptions options)
    : original_(original), portfolio_(portfolio), options_(std::move(options)) {}

Result<std::unique_ptr<Run>> Experiment::solve(Snapshot snapshot, std::span<const change::Change> changes,
                                               portfolio::Clock::time_point end, int budgets) {
  return run(std::move(snapshot), changes, options_.solve, end, budgets);
}

Result<std::unique_ptr<Run>> Experiment::sketch(Snapshot snapshot, std::span<const change::Change> changes) {
  portfolio::SolveOptions solve = options_.solve;
  solve.engine = portfolio::Engine::kGreedy;
  return run(std::move(snapshot), changes, std::move(solve), options_.end, 1);
}

Result<std::unique_ptr<Run>> Experiment::run(Snapshot snapshot, std::span<const change::Change> changes,
                                             portfolio::SolveOptions solve, portfolio::Clock::time_point end,
                                             int budgets) {
  auto run = std::make_unique<Run>();
  run->snapshot = std::make_unique<Snapshot>(std::move(snapshot));
  if (auto failure = change::apply(changes, *run->snapshot)) return *std::move(failure);
  Result<Problem> problem = build_problem(*run->snapshot, solve.threads);
  if (!problem) return problem.error();
  run->problem = std::move(*problem);
  solve.deadline = portfolio::Clock::time_point::max();
  if (!solve.deterministic) {
    const auto budget = std::chrono::duration_cast<portfolio::Clock::duration>(options_.budget * budgets);
    solve.deadline = std::min({end, options_.end, portfolio::Clock::now() + budget});
  }
  run->solution = portfolio_.solve(*run->snapshot, run->problem, solve);
  ++runs_;
  return run;
}

}  // namespace muster::answers
