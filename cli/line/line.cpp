#include "cli/line/line.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "cli/line/line_remedies.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"
#include "model/base/words.h"
#include "model/build/build_problem.h"
#include "model/snapshot/unread.h"

namespace muster::cli {
namespace {

// Keeps sums of instants and budgets within 64 bits.
constexpr Nanoseconds kMostBudget = 8'640'000 * kNanosecondsPerSecond;

double milliseconds(portfolio::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// What the solver gets in any case.
portfolio::Clock::duration least_time(std::chrono::nanoseconds budget, const LineOptions& options) {
  if (options.least_share <= 0) return portfolio::Clock::duration::zero();
  constexpr std::chrono::nanoseconds kLeast = std::chrono::milliseconds(10);
  const auto share =
      std::chrono::nanoseconds(static_cast<std::int64_t>(options.least_share * static_cast<double>(budget.count())));
  return std::min(budget, std::max(share, kLeast));
}

// When the solver must be ready, if the clock counts: time is kept for writing the plan, unless that leaves the solver
// less than its least time.
portfolio::Clock::time_point solver_deadline(const LineTime& time, portfolio::Clock::duration writing,
                                             const LineOptions& options) {
  if (options.solve.deterministic) return portfolio::Clock::time_point::max();
  const portfolio::Clock::duration least = least_time(time.deadline - time.start, options);
  const portfolio::Clock::time_point ready = time.deadline - writing;
  return least > portfolio::Clock::duration::zero() ? std::max(ready, portfolio::Clock::now() + least) : ready;
}

// One line of the trace; `milliseconds_gone` since the budget began, none if no clock is asked.
std::string trace_line(const Snapshot& snapshot, std::optional<double> milliseconds_gone, const TraceEvent& event) {
  const std::int64_t scale = level_scale(event.level.kind, snapshot.policy.placement);
  std::string text;
  json::JsonWriter json(text);
  json.object().member("id", snapshot.id);
  if (milliseconds_gone) json.key("ms").raw(fmt::format("{:.3f}", *milliseconds_gone));
  json.member("engine", origin_name(event.engine)).member("level", level_name(event.level.kind));
  if (has_priority(event.level.kind)) json.member("priority", event.level.priority);
  json.member("value", json::Exact{event.value, scale}).key("bound");
  event.bound ? json.decimal(*event.bound, scale) : json.raw("null");
  json.end().raw("\n");
  return text;
}

// What the trace of a line begins with: what each phase may take, by the names of `phasesMs`, or the counted work.
std::string time_plan_line(const Snapshot& snapshot, const TimeAllotments& allotments, bool has_clock) {
  std::string text;
  json::JsonWriter json(text);
  json.object().member("id", snapshot.id).key("timePlan").object();
  for (const auto& [name, amount] : allotments) json.key(name).raw(fmt::format("{:.{}f}", amount, has_clock ? 3 : 0));
  json.end().end().raw("\n");
  return text;
}

// What the trace of a line ends with, if engines made better plans that broke a rule: how often which.
void trace_refused(const Snapshot& snapshot, const portfolio::Solution& solution, const LineOptions& options) {
  if (!options.trace || solution.refused.empty()) return;
  std::string text;
  json::JsonWriter json(text);
  json.object().member("id", snapshot.id).key("refused").object();
  for (const auto& [rule, times] : solution.refused) json.member(referee::rule_name(rule), times);
  json.end().end().raw("\n");
  options.trace(text);
}

portfolio::TimePlanSink time_plan_sink(const Snapshot& snapshot, const LineOptions& options) {
  if (!options.trace) return {};
  return [&snapshot, &options](const TimeAllotments& allotments) {
    options.trace(time_plan_line(snapshot, allotments, !options.solve.deterministic));
  };
}

TraceSink trace_sink(const Snapshot& snapshot, portfolio::Clock::time_point start, const LineOptions& options) {
  if (!options.trace) return {};
  return [&snapshot, start, &options](const TraceEvent& event) {
    std::optional<double> gone;
    if (!options.solve.deterministic) gone = milliseconds(portfolio::Clock::now() - start);
    options.trace(trace_line(snapshot, gone, event));
  };
}

Answer error_answer(std::int64_t number, std::string_view id, const InputError& error) {
  Answer answer;
  answer.number = number;
  answer.is_error = true;
  answer.is_defect = error.code == ErrorCode::kInternalError;
  answer.error = error;
  muster_v1::write_error(id, error, number, answer.text);
  answer.text += '\n';
  answer.log = fmt::format("{} at {}: {}", error_code_text(error.code), escaped(error.path), escaped(error.message));
  return answer;
}

// For people: the first inconsistency, and the number of others.
std::string told_warnings(const Anomalies& anomalies) {
  constexpr std::size_t kMostTold = 10;
  std::string text;
  std::size_t told = 0;
  std::size_t count = anomalies.more;
  for (const Warning& warning : sorted_warnings(anomalies)) {
    if (is_remark(warning)) continue;  // reported already
    ++count;
    if (told == kMostTold) continue;
    ++told;
    text += (text.empty() ? "" : "\n") + warning_text(warning);
  }
  if (count > told)
    text += fmt::format("\n{}; see the plan", counted(static_cast<std::int64_t>(count - told), "more warning"));
  return text;
}

// For people: what went wrong in the solver, what the import changed, and what the snapshot contradicts.
std::string log_of(const ParsedLine& line, const portfolio::Solution& solution) {
  std::string log = fmt::format("{}", fmt::join(solution.defects, "; "));
  const auto add = [&](const std::string& text) {
    if (!text.empty()) log += (log.empty() ? "" : "\n") + text;
  };
  for (const std::string& remark : line.remarks) add(escaped(remark));
  add(told_warnings(line.snapshot->anomalies));
  return log;
}

// All but the times that are known last.
muster_v1::SolverStatement statement_of(const portfolio::Solution& solution, std::chrono::nanoseconds budget,
                                        portfolio::Clock::duration parsing, portfolio::Clock::duration modelling) {
  muster_v1::SolverStatement statement{solution.origin,
                                       solution.proof,
                                       solution.gap,
                                       milliseconds(budget),
                                       0,
                                       false,
                                       {{"parse", milliseconds(parsing)}, {"model", milliseconds(modelling)}}};
  statement.phases_ms.insert(statement.phases_ms.end(), solution.phases_ms.begin(), solution.phases_ms.end());
  return statement;
}

// The straight line: snapshot, problem, solution, plan.
Answer solve_line(ParsedLine& line, portfolio::Clock::time_point free_since, LineSolver& solver,
                  const LineOptions& options, const SolvedLineObserver& observe) {
  if (!line.snapshot) return error_answer(line.number, line.id, line.snapshot.error());
  Snapshot& snapshot = *line.snapshot;
  const std::chrono::nanoseconds budget(budget_of(line, options));
  const portfolio::Clock::time_point start = std::max(line.begun, free_since - line.parsing);
  const LineTime time{start, start + budget};

  const portfolio::Clock::time_point before_model = portfolio::Clock::now();
  const Result<Problem> problem = build_problem(snapshot, options.solve.threads);
  if (!problem) return error_answer(line.number, snapshot.id, problem.error());
  const portfolio::Clock::duration modelling = portfolio::Clock::now() - before_model;

  portfolio::SolveOptions solve = options.solve;
  Delays& delays = solver.delays.of(problem->pods.size() + problem->nodes.size());
  const auto kept = std::chrono::duration_cast<portfolio::Clock::duration>(
      std::chrono::duration<double, std::milli>(delays.kept_ms(milliseconds(budget))));
  solve.deadline = solver_deadline(time, solver.writer.reserve(*problem, solve.threads) + kept, options);
  solve.time_plan = time_plan_sink(snapshot, options);
  solve.trace = trace_sink(snapshot, start, options);
  if (!options.start.empty()) solver.portfolio.start_from(options.start);
  const portfolio::Solution solution = solver.portfolio.solve(snapshot, *problem, solve);
  trace_refused(snapshot, solution, options);

  Answer answer;
  answer.number = line.number;
  answer.budget = budget.count();
  answer.log = log_of(line, solution);
  muster_v1::PlanLine plan{
      *problem,
      solution.plan,
      solution.report,
      statement_of(solution, budget, line.parsing, modelling),
      !solve.deterministic,
      solve.threads,
      &line.histories,
      line_remedies(snapshot, solution, solver.portfolio, solve, {options.remedies, solve.deadline})};
  solver.writer.write(plan, time, answer.text);
  if (!solve.deterministic) delays.learn(milliseconds(portfolio::Clock::now() - (time.deadline - kept)));
  if (observe) observe({*problem, solution, plan.solver, budget, portfolio::Clock::now() - start, plan.remedies});
  return answer;
}

// An exception is the line's error, so that other lines are answered.
template <class Read>
ParsedLine parsed(std::int64_t number, const muster_v1::SnapshotReader& reader, const Read& read) {
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  try {
    ParsedLine line{number, {}, read(), {}, begun, {}, {}};
    line.remarks = reader.remarks();
    return line;
  } catch (const std::exception& defect) {
    return {number, {}, InputError{ErrorCode::kInternalError, "$", defect.what()}, {}, begun, {}, {}};
  }
}

}  // namespace

kubernetes::KubernetesOptions with_time(kubernetes::KubernetesOptions options, TimeSource source) {
  if (source == TimeSource::kObjects) return options;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  options.not_before = std::chrono::nanoseconds(std::chrono::floor<std::chrono::milliseconds>(now)).count();
  return options;
}

ParsedLine parse_line(muster_v1::SnapshotReader& reader, std::string_view text, std::int64_t number,
                      TimeSource source) {
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  ParsedLine line = parsed(number, reader, [&] { return reader.read(text, with_time(reader.kubernetes(), source)); });
  if (!line.snapshot) line.id = muster_v1::SnapshotReader::id_of(text);
  line.parsing = portfolio::Clock::now() - begun;
  return line;
}

ParsedLine parse_objects(muster_v1::SnapshotReader& reader, const kubernetes::KeptObjects& objects,
                         const kubernetes::KubernetesOptions& kubernetes) {
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  ParsedLine line = parsed(1, reader, [&] { return reader.read(objects, kubernetes); });
  line.parsing = portfolio::Clock::now() - begun;
  return line;
}

Nanoseconds budget_of(const ParsedLine& line, const LineOptions& options) {
  const Nanoseconds told = line.snapshot ? line.snapshot->policy.budget.value_or(options.budget) : options.budget;
  return std::clamp<Nanoseconds>(options.budget_above_all.value_or(told), 0, kMostBudget);
}

Answer answer_line(ParsedLine& line, portfolio::Clock::time_point free_since, LineSolver& solver,
                   const LineOptions& options, const SolvedLineObserver& observe) {
  try {
    return solve_line(line, free_since, solver, options, observe);
  } catch (const std::exception& defect) {
    return defect_answer(line.number, line.snapshot ? line.snapshot->id : line.id, defect);
  }
}

Answer defect_answer(std::int64_t number, std::string_view id, const std::exception& defect) {
  return error_answer(number, id, {ErrorCode::kInternalError, "$", defect.what()});
}

}  // namespace muster::cli
