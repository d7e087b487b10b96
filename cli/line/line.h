// The main path: from a line of input to its answer. Every front end of the program calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/timed_writer.h"
#include "io/muster_v1/plan_line.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"
#include "solver/budget/deadline.h"
#include "solver/portfolio/portfolio.h"

namespace muster::cli {

// A parsed line; parsing may happen while the previous line is still being solved.
struct ParsedLine {
  std::int64_t number = 0;  // from 1
  std::string id;           // of a broken line; else the snapshot has it
  Result<Snapshot> snapshot;
  std::vector<std::string> remarks;    // of the import of Kubernetes objects, for people
  portfolio::Clock::time_point begun;  // when the whole line was there
  portfolio::Clock::duration parsing{};
  muster_v1::Histories histories;  // what was filled into the snapshot
};
// The value of `now` for Kubernetes objects if no option sets it: the latest instant in the objects, or the clock's.
enum class TimeSource : std::uint8_t { kObjects, kClock };
ParsedLine parse_line(muster_v1::SnapshotReader& reader, std::string_view text, std::int64_t number, TimeSource source);
// Of objects that are kept, as import_kept has it; as line 1.
ParsedLine parse_objects(muster_v1::SnapshotReader& reader, const kubernetes::KeptObjects& objects,
                         const kubernetes::KubernetesOptions& kubernetes);

// Options with the clock's time as the minimum of `now`, if that is the source.
kubernetes::KubernetesOptions with_time(kubernetes::KubernetesOptions options, TimeSource source);

struct LineOptions {
  Nanoseconds budget = kNanosecondsPerSecond;   // from the line to its plan, if the snapshot's policy does not set it
  std::optional<Nanoseconds> budget_above_all;  // comes before the snapshot's policy
  // For lines that wait for others: if waiting uses up the budget, the solver still gets this share of it, and 10 ms
  // unless the budget is less: enough for a greedy plan of most clusters.
  double least_share = 0;
  std::int64_t remedies = 0;      // gangs at most for which one is searched, see line_remedies
  portfolio::SolveOptions solve;  // its deadline and its trace are set here
  // What every line starts from; empty: from the plan of the line before.
  portfolio::StartPlan start;
  std::function<void(std::string_view)> trace;  // takes lines of the trace, with their line feeds; may be empty
};

struct Answer {
  std::string text;  // the plan line or the error record, with its line feed
  std::int64_t number = 0;
  bool is_error = false;   // an error record
  InputError error;        // its content
  bool is_defect = false;  // the program's own fault: an exception
  std::string log;         // message for people; empty: none
  Nanoseconds budget = 0;  // that held for a plan
};

// The input of a summary; alive only during the call.
struct SolvedLine {
  const Problem& problem;
  const portfolio::Solution& solution;
  const muster_v1::SolverStatement& statement;
  portfolio::Clock::duration budget, elapsed;
  std::span<const muster_v1::RemedyRecord> remedies = {};
};
using SolvedLineObserver = std::function<void(const SolvedLine&)>;  // may be empty

// Solves lines one after another, and learns from each for the next. One for each solving thread.
struct LineSolver {
  explicit LineSolver(const std::string& worker_program) : portfolio(worker_program) {}
  portfolio::Portfolio portfolio;
  TimedWriter writer;
  DelaysBySize delays;
};

// Solves a parsed line and writes its answer. `free_since`: when the solver could first have started on it; the clock
// of the line's budget runs from then or from `begun`, whichever is later, and parsing counts against it in either
// case. Deterministic: no clock is read, and timings are left out, so that equal plans are equal bytes. Never throws:
// every fault is an error record.
Answer answer_line(ParsedLine& line, portfolio::Clock::time_point free_since, LineSolver& solver,
                   const LineOptions& options, const SolvedLineObserver& observe);

// Of an exception: an error record with the code InternalError.
Answer defect_answer(std::int64_t number, std::string_view id, const std::exception& defect);

// The budget that holds for a line.
Nanoseconds budget_of(const ParsedLine& line, const LineOptions& options);

}  // namespace muster::cli
