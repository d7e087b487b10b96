#include "cli/answers/why/given_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/line/line_source.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/saturating.h"
#include "model/build/build_problem.h"
#include "model/explain/reasons.h"
#include "model/explain/remaining_capacity.h"
#include "model/objective/evaluation.h"
#include "model/objective/fair_share.h"
#include "model/referee/referee.h"

namespace muster::cli {
namespace {

InputError invalid(std::string message) { return {ErrorCode::kInvalidPlan, "$", std::move(message)}; }

Result<std::string> last_line(const std::string& file) {
  LineSource source({file}, {});
  std::optional<std::string> last;
  while (const auto line = source.next()) last = std::string(line->text);
  if (!source.failure().empty()) return InputError{ErrorCode::kNoInput, "$", source.failure()};
  if (!last) return InputError{ErrorCode::kNoInput, "$", fmt::format("{}: the input contains no line", file)};
  return *std::move(last);
}

// What the line proves of each level.
std::vector<std::optional<std::int64_t>> bounds_in(const muster_v1::ReadPlan& read, const Problem& problem) {
  std::vector<std::optional<std::int64_t>> bounds;
  for (const LevelId& id : level_ids(problem)) {
    std::optional<std::int64_t>& bound = bounds.emplace_back();
    const std::int64_t scale = level_scale(id.kind, problem.snapshot->policy.placement);
    for (const muster_v1::ReadPlan::LevelClaim& claim : read.objective) {
      if (claim.level != level_name(id.kind) || (claim.priority && *claim.priority != id.priority)) continue;
      const std::optional<Decimal> told = decimal_in(claim.bound);
      if (told && scale % told->scale == 0) bound = saturating_multiply(told->value, scale / told->scale);
    }
  }
  return bounds;
}

}  // namespace

Result<std::unique_ptr<answers::Run>> run_of_plan(const Snapshot& original, const std::string& file) {
  const Result<std::string> line = last_line(file);
  if (!line) return line.error();
  auto run = std::make_unique<answers::Run>();
  run->snapshot = std::make_unique<Snapshot>(original);
  muster_v1::fill_in_histories(*line, *run->snapshot);
  Result<Problem> problem = build_problem(*run->snapshot);
  if (!problem) return problem.error();
  run->problem = std::move(*problem);
  Result<muster_v1::ReadPlan> read = muster_v1::read_plan(*line, &run->problem);
  if (!read) return read.error();
  if (read->is_error) return invalid("the plan is an error record: " + read->error.message);
  const FairShares shares = compute_fair_shares(run->problem);
  const auto violations = referee::check_plan(*run->snapshot, run->problem, shares, read->plan);
  if (!violations.empty()) {
    const referee::Violation& first = violations.front();
    return invalid(fmt::format("the plan does not hold for this cluster: {}: {}: {}", referee::rule_name(first.rule),
                               first.subject, first.message));
  }
  portfolio::Solution& solution = run->solution;
  solution.plan = std::move(read->plan);
  solution.proof = read->solver.proof;
  const Levels levels = evaluate(run->problem, shares, solution.plan);
  explain::ReportInput input{solution.plan, levels, bounds_in(*read, run->problem), solution.proof == Proof::kOptimal};
  input.stop = [] { return true; };
  solution.report = explain::describe(run->problem, shares, input);
  return run;
}

void settle_reason(answers::Run& run, GangIndex gang, const FairShares& shares) {
  auto& gangs = run.solution.report.gangs;
  const auto report = std::ranges::find(gangs, gang, &explain::GangReport::gang);
  if (report == gangs.end() || report->pending == 0) return;
  const bool is_known = report->reason.code != explain::ReasonCode::kOutOfTime;
  if (is_known && report->make_room != explain::MakeRoomCode::kNone) return;
  const explain::AfterPlan end = explain::after_plan(run.problem, run.solution.plan);
  explain::ReasonTeller teller(run.problem, shares, end, run.solution.proof == Proof::kOptimal);
  explain::Verdict verdict = teller.tell(gang, !run.admits(gang));
  report->reason = std::move(verdict.reason);
  report->make_room = verdict.make_room;
  report->message = std::move(verdict.message);
  report->blockers = std::move(verdict.blockers);
}

}  // namespace muster::cli
