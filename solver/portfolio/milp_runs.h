// The MILP engine in a cycle: beside greedy, after it without moves, and as a whole.
#pragma once

#include <memory>
#include <optional>

#include "solver/cbc/backend.h"
#include "solver/engine/milp_engine.h"
#include "solver/portfolio/cycle_time.h"
#include "solver/portfolio/first_plan.h"
#include "solver/portfolio/offers.h"

namespace muster::portfolio {

// Owns what the engine prepares, and the choice that it makes beside greedy, which its later runs begin with.
class MilpRuns {
 public:
  MilpRuns(const CycleTask& task, CycleTime& time, Offers& offers, cbc::Backend& backend,
           column_generation::PriceMemory& prices)
      : task_(task), time_(time), offers_(offers), backend_(backend), prices_(prices) {}

  // On a core that greedy leaves free.
  void prepare();
  // In a thread beside greedy. Begins with the plan of greedy's first start, unless that settles every level; with its
  // placements alone if evicting takes long.
  void choose_beside(FirstPlan& first);
  // What was chosen, once greedy has ended.
  void take_choice();

  // A level before `moved` is open, though a choice with moves was made: where pods may move, a choice knows sums, and
  // may find no places; where they stay, it knows each node.
  bool is_due_without_moves() const;
  // A plan that moves nothing is a plan, too: more freedom is no worse than less.
  void run_without_moves();

  // Where there is no time for a plan of the engine, a search takes its place.
  bool is_due();
  bool is_left_to_search() const { return is_left_to_search_; }
  // The search has nothing left to find, and the rest of the budget would be idle. `is_search_over`: before its time.
  bool is_due_after_search(bool is_search_over) const;
  void run();

  // With choosing, of all runs; none: it was not run as a whole.
  std::optional<double> ms() const { return was_run_ ? std::optional(ms_) : std::nullopt; }
  void add_choosing(double milliseconds) { ms_ += milliseconds; }
  // Of time, in its last run as a whole; none: it was not run.
  std::optional<bool> ran_out() const { return was_run_ ? std::optional(ran_out_) : std::nullopt; }
  // What was built, to be freed while something else is done.
  std::unique_ptr<engine::MilpPreparation> take_preparation() { return std::move(preparation_); }

 private:
  bool is_short() const { return task_.may_search() && time_.is_short_for_milp(); }
  engine::MilpEngineOptions options(Clock::time_point until);
  std::unique_ptr<engine::MilpPreparation> prepared(const engine::MilpEngineOptions& milp, bool may_move = true) const;
  void choose(const Candidate& start, FirstPlan& first);
  void learn_first_plan(const engine::MilpOutcome& outcome, Clock::time_point begun);

  const CycleTask& task_;
  CycleTime& time_;
  Offers& offers_;
  cbc::Backend& backend_;
  column_generation::PriceMemory& prices_;
  std::unique_ptr<engine::MilpPreparation> preparation_;
  std::optional<engine::ChoiceOutcome> choice_;
  double ms_ = 0;
  bool is_left_to_search_ = false;
  bool was_run_ = false, ran_out_ = false;
};

}  // namespace muster::portfolio
