#include "solver/portfolio/cycle_time.h"

#include <algorithm>

#include "model/base/tuning.h"

namespace muster::portfolio {

CycleTime::CycleTime(const CycleTask& task, EndForecast& ends, EngineForecast& engines)
    : task_(task),
      ends_(ends),
      engines_(engines),
      deadline_(task.options().deadline, task.options().deterministic),
      plan_(make_time_plan(task.size(), learnt(), budget())) {}

TimeBudget CycleTime::budget() const {
  return {left_ms(), task_.has_clock(), task_.has_milp(), task_.may_search(), task_.options().threads};
}

LearntTimes CycleTime::learnt() const {
  const InstanceSize& size = task_.size();
  const EndForecast& end = task_.has_clock() ? ends_ : EndForecast();
  const EngineForecast& engines = task_.has_clock() ? engines_ : EngineForecast();
  return {end.of(size.items(), left_ms()),
          end.checking(size.items()),
          end.stopping(size.items()),
          engines.greedy_start(size.pods, size.leaving > 0),
          engines.first_plan(size.items(), size.nodes_differ()),
          engines.choice(size.kinds)};
}

double CycleTime::reserve_ms(const Offers& offers) const {
  std::size_t names = 0;
  if (!offers.empty())
    for (const Placement& placement : offers.best().candidate.plan.placements) names += placement.after.size();
  return ends_.coming_back(plan_.whole_ms) +
         std::max(ends_.ending(task_.size().items(), plan_.whole_ms), kTuning.forecast.repeat * offers.checking_ms()) +
         kTuning.forecast.glance_ns * static_cast<double>(names) / 1e6;
}

Clock::time_point CycleTime::end(const Offers& offers) const {
  return task_.options().deadline - as_duration(reserve_ms(offers));
}

Clock::time_point CycleTime::end_of_milp(const Offers& offers) const {
  if (!task_.has_clock()) return task_.options().deadline;
  if (plan_.is_milp_alone(left_ms())) return end(offers);
  return end(offers) - as_duration(time_for_last_search(plan_, left_ms() - reserve_ms(offers)));
}

}  // namespace muster::portfolio
