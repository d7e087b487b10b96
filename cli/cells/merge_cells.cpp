#include "cli/cells/merge_cells.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cells/ledger.h"
#include "cli/cells/whole_cluster.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/parallel.h"
#include "model/base/words.h"
#include "model/explain/report.h"
#include "solver/cells/bounds.h"
#include "solver/cells/merging.h"

namespace muster::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The first line of the file; empty: there is none, and that has been reported.
std::optional<std::string> first_cell_line(const std::string& file, Console& console) {
  LineSource source({file}, {});
  if (const auto line = source.next()) return std::string(line->text);
  console.say(Severity::kError, source.failure().empty() ? escaped(file) + ": no line" : source.failure());
  return std::nullopt;
}

// A line with the plan of a cell, and what it says.
struct CellLine {
  std::string text;
  std::int64_t number = 0;
  bool is_read = false;
  std::string id;
  std::optional<Plan> plan;  // none: it is an error line, or has an error
  InputError error;

  void read(const muster_v1::PlanResolver& names) {
    Result<muster_v1::ReadPlan> read = muster_v1::read_plan(text, nullptr);
    if (!read) {
      error = read.error();
      return;
    }
    is_read = true;
    id = read->id;
    if (read->is_error) return;
    if (Result<Plan> resolved = names.resolve(read->named))
      plan = *std::move(resolved);
    else
      error = resolved.error();
  }
};

// Takes in the plans of the cells, in whatever order they come.
class PlanTaking {
 public:
  PlanTaking(const Ledger& ledger, const Problem& problem, Console& console)
      : names_(problem), console_(console), plans_(ledger.ids.size()) {
    for (std::size_t cell = 0; cell < ledger.ids.size(); ++cell) position_.emplace(ledger.ids[cell], cell);
  }

  // Several lines at a time, one for each thread. False: a file cannot be read.
  bool read(const std::vector<std::string>& files, int threads) {
    LineSource source(files, {});
    std::vector<CellLine> lines;
    do {
      lines.clear();
      while (std::ssize(lines) < threads) {
        const auto line = source.next();
        if (!line) break;
        lines.push_back({std::string(line->text), line->number, false, {}, {}, {}});
      }
      parallel_for(lines.size(), threads, [&](std::size_t i) { lines[i].read(names_); });
      for (CellLine& line : lines) take(line);
    } while (!lines.empty());
    if (!source.failure().empty()) console_.say(Severity::kError, source.failure());
    return source.failure().empty();
  }
  cells::CellPlans take_plans() { return std::move(plans_); }

 private:
  void take(CellLine& line) {
    const auto found = position_.find(line.id);
    if (line.is_read && found == position_.end()) {
      console_.say(Severity::kError, fmt::format("line {}: '{}' is none of the cells", line.number, escaped(line.id)));
    } else if (line.error.code != ErrorCode::kNone) {
      console_.say(Severity::kError, fmt::format("line {}: {} at {}: {}", line.number, error_code_text(line.error.code),
                                                 escaped(line.error.path), escaped(line.error.message)));
    } else if (line.plan) {
      plans_[found->second] = std::move(line.plan);
    }
  }

  muster_v1::PlanResolver names_;
  Console& console_;
  std::unordered_map<std::string_view, std::size_t> position_;  // by id
  cells::CellPlans plans_;
};

// Whether every cell has a plan that was taken.
bool tell(const Ledger& ledger, const cells::CellPlans& plans, const cells::Merged& merged, Console& console) {
  std::vector<std::string> missing;
  for (std::size_t cell = 0; cell < plans.size(); ++cell)
    if (!plans[cell]) missing.push_back(escaped(ledger.ids[cell]));
  if (!missing.empty())
    console.say(Severity::kError,
                fmt::format("{} without a plan: {}", counted(static_cast<std::int64_t>(missing.size()), "cell"),
                            fmt::join(missing, ", ")));
  for (std::size_t i = 0; i < merged.refused.size(); ++i)
    console.say(Severity::kError, fmt::format("the plan of {} is left out: {}", escaped(ledger.ids[merged.refused[i]]),
                                              escaped(merged.reasons[i])));
  return missing.empty() && merged.refused.empty();
}

struct Reported {
  explain::Report report;
  muster_v1::SolverStatement solver;
};

Reported reported(const Problem& problem, const FairShares& shares, const cells::ProvenPlan& proven,
                  Clock::time_point until) {
  Reported told;
  const Plan& plan = proven.plan.plan;
  explain::ReportInput input{plan, proven.plan.levels, proven.bounds, false};
  input.stop = [until] { return Clock::now() >= until; };
  told.report = explain::describe(problem, shares, input);
  const bool does_nothing = plan.placements.empty() && plan.evictions.empty();
  told.solver.origin = does_nothing ? Origin::kNone : Origin::kSearch;
  const bool is_proven = std::ranges::all_of(told.report.objective, [](const explain::LevelReport& level) {
    return level.bound && *level.bound == level.value;
  });
  told.solver.proof = is_proven ? Proof::kOptimal : Proof::kHeuristic;
  told.solver.gap = explain::gap_of(told.report.objective, problem.snapshot->policy.placement);
  return told;
}

}  // namespace

int merge_cells(const Settings& settings, Console& console) {
  const Clock::time_point start = Clock::now();
  const auto snapshot = settings.text("of");
  if (!snapshot) throw UsageError("--cells: give --of SNAPSHOT, the cluster that was divided");
  WholeCluster whole(settings);
  if (const int code = whole.read(*snapshot, console); code != kExitAnswered) return code;
  const Problem& problem = whole.problem();
  const auto text = first_cell_line(*settings.text("cells"), console);
  if (!text) return kExitNoInput;
  Result<Ledger> ledger = read_ledger(*text, problem);
  if (!ledger) {
    console.say(Severity::kError, fmt::format("--cells: {} at {}: {}", error_code_text(ledger.error().code),
                                              escaped(ledger.error().path), escaped(ledger.error().message)));
    return kExitNoValidLine;
  }
  const LineOptions options = line_options(settings);
  PlanTaking taking(*ledger, problem, console);
  if (!taking.read(settings.arguments(), options.solve.threads)) return kExitNoInput;
  const cells::CellPlans plans = taking.take_plans();
  std::optional<Plan> before;
  if (const auto file = settings.text("plan")) {
    before = whole.read_plan(*file, console);
    if (!before) return kExitNoValidLine;
  }
  const double reading_ms = milliseconds_since(start);

  const FairShares shares = compute_fair_shares(problem);
  const Clock::time_point merging = Clock::now();
  cells::Merged merged = cells::merge(
      problem, shares, ledger->dealing, plans,
      {before ? &*before : nullptr, merging + std::chrono::nanoseconds(options.budget), options.solve.threads});
  const bool is_complete = tell(*ledger, plans, merged, console);
  const double merging_ms = milliseconds_since(merging);

  const Clock::time_point improving = Clock::now();
  cells::improve(problem, shares, merged,
                 improving + std::chrono::nanoseconds(settings.duration("improve").value_or(0)), options.solve.threads);
  const double improving_ms = milliseconds_since(improving);
  const Clock::time_point proving = Clock::now(), until = proving + std::chrono::nanoseconds(options.budget);
  const cells::ProvenPlan proven =
      cells::prove(problem, shares, {std::move(merged.plan), std::move(merged.levels), false},
                   {until, options.solve.threads, std::string(kOwnProgram)});
  for (const std::string& defect : proven.defects) console.say(Severity::kError, defect);
  const double proving_ms = milliseconds_since(proving);
  Reported told = reported(problem, shares, proven, std::max(until, Clock::now()));
  told.solver.budget_ms = std::chrono::duration<double, std::milli>(std::chrono::nanoseconds(options.budget)).count();
  told.solver.elapsed_ms = milliseconds_since(start);
  told.solver.phases_ms = {
      {"parse", reading_ms}, {"merge", merging_ms}, {"search", improving_ms}, {"bound", proving_ms}};
  std::string line;
  muster_v1::write_plan({problem, proven.plan.plan, told.report, told.solver, true, options.solve.threads}, line);
  line += '\n';
  return print(line, is_complete ? kExitAnswered : kExitSomeErrors);
}

}  // namespace muster::cli
