// The first engine of a cycle, which always leaves a plan.
#pragma once

#include <atomic>
#include <functional>

#include "heuristics/greedy/greedy.h"
#include "solver/portfolio/cycle_time.h"
#include "solver/portfolio/first_plan.h"
#include "solver/portfolio/offers.h"

namespace muster::portfolio {

class GreedyStage {
 public:
  GreedyStage(const CycleTask& task, CycleTime& time, Offers& offers) : task_(task), time_(time), offers_(offers) {}

  // What runs beside greedy: in a thread of its own, from greedy's first plan on; or in one of greedy's threads, with
  // which greedy's single start leaves a core free. Each may be empty.
  struct Beside {
    std::function<void(FirstPlan&)> own_thread;
    std::function<void()> free_core;
  };
  // Returns whether greedy ran out of time.
  bool run(const Beside& beside);
  double ms() const { return ms_; }

 private:
  greedy::GreedyOptions options(bool has_reader);
  void set_stops(greedy::GreedyOptions& greedy);
  void note_stop();

  const CycleTask& task_;
  CycleTime& time_;
  Offers& offers_;
  FirstPlan first_plan_;
  std::atomic<Clock::rep> stopped_{0};  // when its first start was asked to stop; 0: it was not
  double ms_ = 0;
};

}  // namespace muster::portfolio
