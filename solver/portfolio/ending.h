// The end of a cycle: the best plan that the referee passes, with its report.
#pragma once

#include <string>
#include <vector>

#include "solver/portfolio/cycle_time.h"
#include "solver/portfolio/offers.h"
#include "solver/portfolio/plan_memory.h"

namespace muster::portfolio {

class Ending {
 public:
  Ending(const CycleTask& task, const CycleTime& time, Offers& offers, PlanMemory& memory)
      : task_(task), time_(time), offers_(offers), memory_(memory) {}

  // The best plan that passes; the minimal one if there is none. `ran_out`: engines might have found more with more
  // time. Plan, report, proof and counts of the solution are set, not its phases.
  Solution run(bool ran_out);
  // Of the time of run(): nothing else was done but finding reasons.
  double only_reasons_ms() const { return only_reasons_ms_; }

 private:
  bool passes_and_is_told(Offer& offer, bool ran_out);
  void remember(const Offer& offer) const;
  Clock::time_point tell(Offer& offer, bool ran_out);

  const CycleTask& task_;
  const CycleTime& time_;
  Offers& offers_;
  PlanMemory& memory_;
  explain::Report report_;
  std::vector<std::string> bound_defects_;  // found concurrently with the referee, which has its own
  double only_reasons_ms_ = 0;
};

}  // namespace muster::portfolio
