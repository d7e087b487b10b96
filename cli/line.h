// The straight line: from a line of input to its answer. Every front of the program calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/plan_line.h"
#include "io/snapshot_reader.h"
#include "model/error.h"
#include "model/snapshot.h"
#include "solver/forecast.h"
#include "solver/portfolio.h"

namespace muster {

// A line that has been parsed, which may happen while the line before it is still being solved.
struct ParsedLine {
  std::int64_t number = 0;  // from 1
  std::string id;           // of a line that is broken; else the snapshot says it
  Result<Snapshot> snapshot;
  std::vector<std::string> remarks;  // of the import of Kubernetes objects, for people
  Clock::time_point begun;           // when the whole line was there
  Clock::duration parsing{};
};
// What `now` is for Kubernetes objects where no option tells it: the latest instant that they tell, or the clock's.
enum class TimeSource : std::uint8_t { kObjects, kClock };
ParsedLine parse_line(SnapshotReader& reader, std::string_view text, std::int64_t number, TimeSource source);

// Options with the clock's time as what now is at least, if that is the source.
KubernetesOptions with_time(KubernetesOptions options, TimeSource source);

struct LineOptions {
  Nanoseconds budget = kNanosecondsPerSecond;   // from the line to its plan, where the snapshot's policy does not say
  std::optional<Nanoseconds> budget_above_all;  // comes before the snapshot's policy
  // Of lines that wait for others: where that takes the budget, the solver still gets this share of it, and 10 ms
  // unless the budget is less: enough for a greedy plan of most clusters.
  double least_share = 0;
  SolveOptions solve;                           // its deadline and its trace are set here
  std::function<void(std::string_view)> trace;  // takes lines of the trace, with their line feeds; may be empty
};

struct Answer {
  std::string text;  // the plan line or the error record, with its line feed
  std::int64_t number = 0;
  bool is_error = false;   // an error record
  InputError error;        // what it says
  bool is_defect = false;  // the program's own fault: an exception
  std::string log;         // what people should be told; empty: nothing
  Nanoseconds budget = 0;  // that held for a plan
};

// What a summary is made of; alive only during the call.
struct SolvedLine {
  const Problem& problem;
  const Solution& solution;
  const SolverStatement& statement;
  Clock::duration budget, elapsed;
};
using SolvedLineObserver = std::function<void(const SolvedLine&)>;  // may be empty

// What solves lines one after another, and learns of each for the next. One a thread that solves.
struct LineSolver {
  explicit LineSolver(const std::string& worker_program) : portfolio(worker_program) {}
  Portfolio portfolio;
  WritingForecast writing;
};

// Solves a parsed line and writes its answer. `free_since`: when the solver could first have turned to it; the clock of
// the line's budget runs from then or from `begun`, whichever is later, and parsing counts against it in either case.
// Deterministic: no clock is asked for anything, and timings are left out, so that equal plans are equal bytes.
// Never throws: whatever goes wrong is an error record.
Answer answer_line(ParsedLine& line, Clock::time_point free_since, LineSolver& solver, const LineOptions& options,
                   const SolvedLineObserver& observe);

// The budget that holds for a line.
Nanoseconds budget_of(const ParsedLine& line, const LineOptions& options);

}  // namespace muster
