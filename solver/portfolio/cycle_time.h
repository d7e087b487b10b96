// The clock of a cycle: how its budget is divided, what is left of it, and what is kept for its end.
#pragma once

#include <chrono>

#include "solver/budget/deadline.h"
#include "solver/budget/forecast.h"
#include "solver/budget/time_plan.h"
#include "solver/portfolio/cycle_task.h"
#include "solver/portfolio/offers.h"

namespace muster::portfolio {

inline double milliseconds_since(Clock::time_point start, Clock::time_point end = Clock::now()) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

inline Clock::duration as_duration(double milliseconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(milliseconds));
}

// Begins with its construction. Refers to the task and to the forecasts, which outlive it. Without a clock nothing is
// learnt, so that a plan depends on no earlier one.
class CycleTime {
 public:
  CycleTime(const CycleTask& task, EndForecast& ends, EngineForecast& engines);

  const TimePlan& plan() const { return plan_; }
  const Deadline& deadline() const { return deadline_; }
  TimeBudget budget() const;
  Clock::time_point after_begin(double milliseconds) const { return begun_ + as_duration(milliseconds); }
  double left_ms() const { return std::chrono::duration<double, std::milli>(deadline_.left()).count(); }

  // Kept for the end: as forecast, but at least a multiple of the time that checking the best plan has taken. The names
  // of pods that must be gone first are written for each placement; forecasts by the snapshot's size omit them.
  double reserve_ms(const Offers& offers) const;
  Clock::time_point end(const Offers& offers) const;  // of the last engine

  // Whether the MILP engine would reach no plan; and whether it gives any result.
  bool is_short_for_milp() const { return plan_.is_short_for_milp(left_ms()); }
  bool is_worth_a_milp(const Offers& offers) const { return left_ms() - reserve_ms(offers) > plan_.needs.first_bound; }
  // When it ends, so that a search may follow.
  Clock::time_point end_of_milp(const Offers& offers) const;

  const EndForecast& ends() const { return ends_; }
  EndForecast& ends() { return ends_; }
  EngineForecast& engines() { return engines_; }

 private:
  LearntTimes learnt() const;

  const CycleTask& task_;
  EndForecast& ends_;
  EngineForecast& engines_;
  const Clock::time_point begun_ = Clock::now();
  const Deadline deadline_;
  const TimePlan plan_;
};

}  // namespace muster::portfolio
