// The plans that the engines of a cycle have made, best first, and what is known of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/engine/milp_engine.h"
#include "solver/portfolio/cycle_task.h"
#include "solver/portfolio/offer.h"

namespace muster::portfolio {

// Tells the trace of each plan that comes in front. Counts what the referee rejects, and what engines report.
//
// Not shared between threads, but for greedy's first plans, which its thread tells before any other stage begins.
class Offers {
 public:
  explicit Offers(const CycleTask& task);

  bool empty() const { return all_.empty(); }
  // Require a plan.
  Offer& best() { return all_.front(); }
  const Offer& best() const { return all_.front(); }

  // In front of all others.
  void put_first(Offer offer);
  // A plan made of the best one: known bounds hold as long as the values before their level do.
  void put_better(Candidate candidate, Origin origin, bool is_repacked = false);
  // The same, of a search: in place of the best one if that is of a search, too.
  void put_searched(Candidate candidate);
  // What greedy has so far, in place of all others.
  void put_alone(Candidate candidate);
  // What an engine has made of the best plan: a better one with its bounds, or bounds alone. Notes its faults.
  void take(engine::MilpOutcome outcome);
  void note_faults(const engine::MilpOutcome& outcome);

  // With what is known without another engine, as where everything or nothing fits.
  void add_known_bounds(Offer& offer) const;
  bool is_proven();
  // Nothing better than the best plan is asked for.
  bool is_good_enough();
  // A level of the best plan before `moved` is not proven.
  bool is_open_before_evictions() const;

  // Whether the referee passes the plan; else it is counted, and told.
  bool passes(const Offer& offer);
  // Puts a plan that passes in front, and measures how long checking takes. False: not even the least plan passes.
  bool check_best();
  bool is_checked() const { return checking_ms_ > 0; }
  double checking_ms() const { return checking_ms_; }
  // The first that `is_chosen` takes, or the least plan.
  template <class Choose>
  Offer& choose(const Choose& is_chosen) {
    for (Offer& offer : all_)
      if (is_chosen(offer)) return offer;
    all_.push_back(least_offer(task_.problem(), task_.shares()));
    return all_.back();
  }

  Tracer& tracer() { return tracer_; }
  // What was counted, for the end of the cycle.
  void move_counts_to(Solution& solution);

 private:
  void settle_nothing(Offer& offer) const;

  const CycleTask& task_;
  std::vector<Offer> all_;
  Tracer tracer_;
  double checking_ms_ = 0;
  std::vector<std::string> defects_;
  std::int64_t rejected_ = 0;
  std::map<referee::Rule, std::int64_t> refused_;
};

}  // namespace muster::portfolio
