#include "cli/line/line.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"
#include "model/build/build_problem.h"

namespace muster {
namespace {

// Keeps sums of instants and budgets within 64 bits.
constexpr Nanoseconds kMostBudget = 8'640'000 * kNanosecondsPerSecond;

double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

// The size that determines the time of the report on a plan. The decisions are written while the plan is verified.
std::int64_t things_told(const Problem& problem) {
  return static_cast<std::int64_t>(problem.gangs.size() + problem.queues.size());
}

Clock::duration writing_reserve(const Problem& problem, const WritingForecast& forecast) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(forecast.of(things_told(problem))));
}

SolveOptions solve_until(SolveOptions options, Clock::time_point deadline) {
  options.deadline = options.deterministic ? Clock::time_point::max() : deadline;
  return options;
}

// What the solver gets in any case.
Clock::duration least_time(std::chrono::nanoseconds budget, const LineOptions& options) {
  if (options.least_share <= 0) return Clock::duration::zero();
  constexpr std::chrono::nanoseconds kLeast = std::chrono::milliseconds(10);
  const auto share =
      std::chrono::nanoseconds(static_cast<std::int64_t>(options.least_share * static_cast<double>(budget.count())));
  return std::min(budget, std::max(share, kLeast));
}

// One line of the trace; `milliseconds_gone` since the budget began, none if no clock is asked.
std::string trace_line(const Snapshot& snapshot, std::optional<double> milliseconds_gone, const TraceEvent& event) {
  const std::int64_t scale = level_scale(event.level.kind, snapshot.policy.placement);
  std::string text;
  JsonWriter json(text);
  json.raw(R"({"id":)").string(snapshot.id);
  if (milliseconds_gone) json.raw(fmt::format(R"(,"ms":{:.3f})", *milliseconds_gone));
  json.raw(R"(,"engine":)").string(event.engine).raw(R"(,"level":)").string(level_name(event.level.kind));
  if (has_priority(event.level.kind)) json.raw(R"(,"priority":)").integer(event.level.priority);
  json.raw(R"(,"value":)").decimal(event.value, scale).raw(R"(,"bound":)");
  event.bound ? json.decimal(*event.bound, scale) : json.raw("null");
  json.raw("}\n");
  return text;
}

TraceSink trace_sink(const Snapshot& snapshot, Clock::time_point start, const LineOptions& options) {
  if (!options.trace) return {};
  return [&snapshot, start, &options](const TraceEvent& event) {
    std::optional<double> gone;
    if (!options.solve.deterministic) gone = milliseconds(Clock::now() - start);
    options.trace(trace_line(snapshot, gone, event));
  };
}

Answer error_answer(const ParsedLine& line, std::string_view id, const InputError& error) {
  Answer answer{
      .text = {}, .number = line.number, .is_error = true, .error = error, .is_defect = false, .log = {}, .budget = 0};
  write_error(id, error, line.number, answer.text);
  answer.text += '\n';
  answer.log = fmt::format("{} at {}: {}", escaped(error.code), escaped(error.path), escaped(error.message));
  return answer;
}

// For people: the first inconsistency, and the number of others.
std::string told_warnings(const Anomalies& anomalies) {
  constexpr std::size_t kMostTold = 10;
  std::string text;
  std::size_t told = 0;
  std::size_t count = anomalies.more;
  for (const Warning& warning : sorted_warnings(anomalies)) {
    if (warning.object == kImportRemark) continue;  // reported already
    ++count;
    if (told == kMostTold) continue;
    ++told;
    text += (text.empty() ? "" : "\n") + warning_text(warning);
  }
  if (count > told) text += fmt::format("\n{} more warnings; see the plan", count - told);
  return text;
}

// Writes the report on the plan, and then the solver statement again: only now is the time for writing known. The
// statement is the last member of the line, so it replaces the one written in the same line without content.
void write_timed(PlanLine& line, Clock::time_point start, Clock::time_point deadline, std::string& out) {
  constexpr std::string_view kSeam = ",\"solver\":";
  const Clock::time_point before = Clock::now();
  write_account(line, out);
  const Clock::time_point after = Clock::now();
  line.solver.phases_ms.emplace_back("write", milliseconds(after - before));
  line.solver.elapsed_ms = milliseconds(after - start);
  line.solver.deadline_missed = line.with_timings && after > deadline;
  std::string ending;
  write_account({line.problem, line.plan, Report{}, line.solver, line.with_timings}, ending);
  out.replace(out.rfind(kSeam), std::string::npos, ending, ending.rfind(kSeam));
  out += '\n';
}

// The line itself: snapshot, problem, solution, plan.
Answer solve_line(ParsedLine& line, Clock::time_point free_since, LineSolver& solver, const LineOptions& options,
                  const SolvedLineObserver& observe) {
  if (!line.snapshot) return error_answer(line, line.id, line.snapshot.error());
  Snapshot& snapshot = *line.snapshot;
  const std::chrono::nanoseconds budget(budget_of(line, options));
  const Clock::time_point start = std::max(line.begun, free_since - line.parsing);
  const Clock::time_point deadline = start + budget;

  const Clock::time_point before_model = Clock::now();
  const Result<Problem> problem = build_problem(snapshot, options.solve.threads);
  if (!problem) return error_answer(line, snapshot.id, problem.error());
  const Clock::duration modelling = Clock::now() - before_model;

  const Clock::duration least = least_time(budget, options);
  const Clock::time_point ready = deadline - writing_reserve(*problem, solver.writing);
  SolveOptions solve =
      solve_until(options.solve, least > Clock::duration::zero() ? std::max(ready, Clock::now() + least) : ready);
  solve.trace = trace_sink(snapshot, start, options);
  std::string text;
  solve.verifying = [&](const Plan& plan) {
    text.clear();
    write_decisions(*problem, plan, text);
  };
  const Solution solution = solver.portfolio.solve(snapshot, *problem, solve);

  SolverStatement statement{solution.origin,
                            solution.proof,
                            solution.gap,
                            milliseconds(budget),
                            0,
                            false,
                            {{"parse", milliseconds(line.parsing)}, {"model", milliseconds(modelling)}}};
  statement.phases_ms.insert(statement.phases_ms.end(), solution.phases_ms.begin(), solution.phases_ms.end());
  Answer answer{.text = std::move(text),
                .number = line.number,
                .is_error = false,
                .error = {},
                .is_defect = false,
                .log = {},
                .budget = budget.count()};
  answer.log = fmt::format("{}", fmt::join(solution.defects, "; "));
  for (const std::string& remark : line.remarks) {
    answer.log += fmt::format("{}{}", answer.log.empty() ? "" : "\n", escaped(remark));
  }
  if (const std::string warnings = told_warnings(snapshot.anomalies); !warnings.empty())
    answer.log += (answer.log.empty() ? "" : "\n") + warnings;
  PlanLine plan{*problem,
                solution.plan,
                solution.report,
                std::move(statement),
                !options.solve.deterministic,
                options.solve.threads};
  write_timed(plan, start, deadline, answer.text);
  const auto reasons =
      std::ranges::count_if(solution.report.gangs, [](const GangReport& gang) { return !gang.message.empty(); });
  solver.writing.learn(things_told(*problem), reasons, plan.solver.phases_ms.back().second);
  if (observe) observe({*problem, solution, plan.solver, budget, Clock::now() - start});
  return answer;
}

}  // namespace

KubernetesOptions with_time(KubernetesOptions options, TimeSource source) {
  if (source == TimeSource::kObjects) return options;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  options.not_before = std::chrono::nanoseconds(std::chrono::floor<std::chrono::milliseconds>(now)).count();
  return options;
}

ParsedLine parse_line(SnapshotReader& reader, std::string_view text, std::int64_t number, TimeSource source) {
  const Clock::time_point begun = Clock::now();
  ParsedLine line{number, {}, reader.read(text, with_time(reader.kubernetes(), source)), {}, begun, {}};
  line.remarks = reader.remarks();
  if (!line.snapshot) line.id = SnapshotReader::id_of(text);
  line.parsing = Clock::now() - begun;
  return line;
}

Nanoseconds budget_of(const ParsedLine& line, const LineOptions& options) {
  const Nanoseconds told = line.snapshot ? line.snapshot->policy.budget.value_or(options.budget) : options.budget;
  return std::clamp<Nanoseconds>(options.budget_above_all.value_or(told), 0, kMostBudget);
}

Answer answer_line(ParsedLine& line, Clock::time_point free_since, LineSolver& solver, const LineOptions& options,
                   const SolvedLineObserver& observe) {
  try {
    return solve_line(line, free_since, solver, options, observe);
  } catch (const std::exception& defect) {
    const std::string_view id = line.snapshot ? line.snapshot->id : line.id;
    Answer answer = error_answer(line, id, {"InternalError", "$", defect.what()});
    answer.is_defect = true;
    return answer;
  }
}

}  // namespace muster
