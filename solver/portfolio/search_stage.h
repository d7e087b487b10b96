// What searches among plans in a cycle: a search with several aims, and the gathering of what is free on few nodes.
#pragma once

#include <vector>

#include "heuristics/local_search/search.h"
#include "solver/portfolio/cycle_time.h"
#include "solver/portfolio/offers.h"

namespace muster::portfolio {

class SearchStage {
 public:
  SearchStage(const CycleTask& task, const CycleTime& time, Offers& offers)
      : task_(task), time_(time), offers_(offers) {}

  // There is time to begin one and to finish it.
  bool is_due() const;
  // With a clock again and again, as a search ends after many changes in vain: while there is something left to prove,
  // and unless `once`. Without, once for each aim.
  void run(bool once);
  // Before its time was up.
  bool is_over() const { return !ran_out_; }
  double ms() const { return ms_; }
  void add(double milliseconds) { ms_ += milliseconds; }

 private:
  local_search::SearchOptions options() const;
  bool search_once(const local_search::SearchOptions& search_options);

  const CycleTask& task_;
  const CycleTime& time_;
  Offers& offers_;
  double ms_ = 0;
  bool ran_out_ = true;  // or it was not run
};

// Leaves more nodes whole if that changes no earlier level.
class GatherStage {
 public:
  GatherStage(const CycleTask& task, const CycleTime& time, Offers& offers)
      : task_(task), time_(time), offers_(offers) {}

  bool is_due() const;
  void run();
  double ms() const { return ms_; }

 private:
  const CycleTask& task_;
  const CycleTime& time_;
  Offers& offers_;
  double ms_ = 0;
};

}  // namespace muster::portfolio
