#include "cli/line/line_remedies.h"

#include <algorithm>
#include <utility>

#include "model/build/build_problem.h"
#include "solver/answers/standing.h"
#include "solver/remedies/remedy.h"
#include "solver/remedies/remedy_search.h"

namespace muster::cli {
namespace {

std::vector<GangIndex> first_waiting(const answers::Run& run, std::int64_t most) {
  std::vector<GangIndex> gangs;
  for (const explain::GangReport& report : run.solution.report.gangs) {
    if (report.phase == explain::GangPhase::kUnschedulable) gangs.push_back(report.gang);
  }
  std::ranges::stable_sort(gangs, std::greater<>(),
                           [&](GangIndex gang) { return answers::rank_of(run.problem.gangs[gang]); });
  if (std::ssize(gangs) > most) gangs.resize(static_cast<std::size_t>(most));
  return gangs;
}

muster_v1::RemedyRecord record_of(GangIndex gang, const answers::RemedyAnswer& answer, const Snapshot& snapshot) {
  if (answer.remedies.empty()) return {gang, "never", 0, "", "", false};
  const answers::Remedy& first = answer.remedies.front();
  return {gang,
          std::string(answers::remedy_kind_name(first.kind)),
          first.size,
          answers::remedy_words(first, snapshot),
          answers::remedy_options(first),
          first.is_smallest};
}

}  // namespace

std::vector<muster_v1::RemedyRecord> line_remedies(const Snapshot& snapshot, const portfolio::Solution& solution,
                                                   portfolio::Portfolio& portfolio,
                                                   const portfolio::SolveOptions& solve, const RemedyOptions& options) {
  std::vector<muster_v1::RemedyRecord> records;
  const auto is_over = [&] { return !solve.deterministic && portfolio::Clock::now() >= options.end; };
  if (options.gangs <= 0 || is_over()) return records;
  answers::Run base;
  base.snapshot = std::make_unique<Snapshot>(snapshot);
  Result<Problem> problem = build_problem(*base.snapshot, solve.threads);  // the same again, of the copy
  if (!problem) return records;
  base.problem = std::move(*problem);
  base.solution = solution;
  answers::ExperimentOptions experiment_options;
  experiment_options.solve = solve;
  experiment_options.solve.trace = {};
  experiment_options.solve.time_plan = {};
  experiment_options.solve.write_model.clear();
  experiment_options.end = options.end;
  answers::Experiment experiment(*base.snapshot, portfolio, experiment_options);
  for (const GangIndex gang : first_waiting(base, options.gangs)) {
    if (is_over()) break;
    const answers::RemedyAnswer answer = answers::find_remedies(experiment, base, gang);
    const bool is_open = !answer.unfinished.empty() || !answer.unproven.empty();
    if (answer.remedies.empty() && is_open) continue;
    records.push_back(record_of(gang, answer, snapshot));
  }
  return records;
}

}  // namespace muster::cli
