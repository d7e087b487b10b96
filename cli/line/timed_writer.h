// Writes the plan line within the time of its line, and forecasts how long that takes.
#pragma once

#include <string>

#include "io/muster_v1/plan_line.h"
#include "model/problem/problem.h"
#include "solver/budget/forecast.h"
#include "solver/portfolio/portfolio.h"

namespace muster::cli {

// The clock of a line's budget runs from `start`; its answer must be written by `deadline`.
struct LineTime {
  portfolio::Clock::time_point start, deadline;
};

// One for each solving thread: it learns from each line for the next.
class TimedWriter {
 public:
  // The time to keep for the plan line of this problem, written by so many threads. The decisions are not known yet:
  // the time is in proportion to the pods that wait or may leave. Cost: O(pods).
  portfolio::Clock::duration reserve(const Problem& problem, int threads) const;

  // Appends the line and a line feed. Completes the statement: elapsed_ms, deadline_missed and, last, the phase
  // "write", which ends when all but the statement is written. Cost: that of write_plan.
  void write(muster_v1::PlanLine& line, const LineTime& time, std::string& out);

 private:
  WritingForecast decisions_, report_;
};

}  // namespace muster::cli
