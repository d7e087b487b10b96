#include "solver/portfolio/milp_runs.h"

#include <algorithm>
#include <utility>

#include "model/base/tuning.h"

namespace muster::portfolio {

engine::MilpEngineOptions MilpRuns::options(Clock::time_point until) {
  const SolveOptions& asked = task_.options();
  const TimePlan& plan = time_.plan();
  engine::MilpEngineOptions milp{
      task_.has_clock() ? Deadline(until, false) : Deadline(until, WorkLimit(plan.milp_work)),
      asked.gap,
      asked.threads,
      &offers_.tracer(),
      task_.has_clock() ? &prices_ : nullptr,
      task_.trivial()};
  milp.sums = &task_.sums();
  milp.parts = plan.milp;
  milp.left_out = asked.left_out;
  return milp;
}

std::unique_ptr<engine::MilpPreparation> MilpRuns::prepared(const engine::MilpEngineOptions& milp,
                                                            bool may_move) const {
  return std::make_unique<engine::MilpPreparation>(task_.problem(), task_.shares(),
                                                   milp.deadline.part(time_.plan().milp.formulating), may_move);
}

void MilpRuns::prepare() {
  preparation_ = std::make_unique<engine::MilpPreparation>(task_.problem(), task_.shares(),
                                                           time_.deadline().part(time_.plan().milp.formulating));
}

void MilpRuns::choose_beside(FirstPlan& first) {
  const Clock::time_point patience = time_.after_begin(kTuning.parts.aside * time_.plan().whole_ms);
  const std::optional<Candidate> start = first.wait(patience);
  if (start && !is_settled({*start, Origin::kGreedy, task_.sums().reached(start->levels)})) choose(*start, first);
}

void MilpRuns::choose(const Candidate& start, FirstPlan& first) {
  engine::MilpEngineOptions milp = options(task_.options().deadline - as_duration(time_.plan().end_ms));
  preparation_ = prepared(milp);
  if (!preparation_->candidates.any || preparation_->took_too_long) return;
  milp.trace = nullptr;  // greedy uses it
  milp.parts.choosing = kTuning.parts.most;
  // An earlier choice evicts more, and so finds places for more: it needs time, too.
  milp.parts.placing = kTuning.parts.side;
  milp.parts.dealing = kTuning.parts.half;
  milp.newer = [&first] { return first.later(); };
  const Clock::time_point begun = Clock::now();
  choice_ = engine::choose_and_place(*preparation_, start, backend_, milp);
  const double ms = milliseconds_since(begun, choice_->outcome.first_improved.value_or(Clock::now()));
  time_.engines().learn_choice(task_.size().kinds, ms, choice_->outcome.improved || !milp.deadline.passed());
}

void MilpRuns::take_choice() {
  if (!choice_) return;
  offers_.note_faults(choice_->outcome);
  choice_->outcome.defects.clear();
  choice_->outcome.refused.clear();
  offers_.take(engine::outcome_for(offers_.best().candidate, *choice_, task_.ids()));
  const Offer& best = offers_.best();
  offers_.tracer().tell(best.origin, best.candidate.levels, best.bounds);
}

bool MilpRuns::is_due_without_moves() const {
  return choice_ && task_.size().may_move && time_.is_worth_a_milp(offers_) && !is_short() &&
         offers_.is_open_before_evictions();
}

void MilpRuns::run_without_moves() {
  if (!offers_.check_best()) return;
  const Clock::time_point start = Clock::now();
  engine::MilpEngineOptions milp = options(std::min(time_.end(offers_), time_.deadline().after(kTuning.parts.half)));
  const auto still = prepared(milp, false);
  if (still->candidates.any && !still->took_too_long) {
    engine::MilpOutcome found = engine::solve_milp(*still, offers_.best().candidate, backend_, milp);
    offers_.note_faults(found);
    if (found.improved) offers_.put_better(std::move(found.best), Origin::kMilp);
  }
  ms_ += milliseconds_since(start);
}

bool MilpRuns::is_due() {
  is_left_to_search_ = is_short();
  if (is_left_to_search_ && task_.has_clock()) time_.engines().note_left_out(task_.size().nodes_differ());
  return time_.is_worth_a_milp(offers_) && !is_left_to_search_;
}

bool MilpRuns::is_due_after_search(bool is_search_over) const {
  return is_left_to_search_ && task_.has_clock() && is_search_over && time_.is_worth_a_milp(offers_) &&
         time_.left_ms() > kTuning.parts.half * time_.plan().whole_ms;
}

void MilpRuns::run() {
  if (!offers_.check_best()) return;
  const Clock::time_point start = Clock::now(), until = time_.end_of_milp(offers_);
  engine::MilpEngineOptions milp = options(until);
  if (!preparation_) preparation_ = prepared(milp);
  engine::MilpOutcome outcome =
      engine::solve_milp(*preparation_, offers_.best().candidate, backend_, milp, choice_ ? &*choice_ : nullptr);
  was_run_ = true;
  ran_out_ = task_.has_clock() && milp.deadline.passed();
  if (ran_out_) time_.ends().learn_coming_back(milliseconds_since(until));
  learn_first_plan(outcome, start);
  ms_ += milliseconds_since(start);
  offers_.take(std::move(outcome));
}

void MilpRuns::learn_first_plan(const engine::MilpOutcome& outcome, Clock::time_point begun) {
  const InstanceSize& size = task_.size();
  if (!outcome.first_improved || size.leaving != 0 || !task_.has_clock()) return;
  time_.engines().learn_first_plan(size.items(), size.nodes_differ(),
                                   milliseconds_since(begun, *outcome.first_improved));
}

}  // namespace muster::portfolio
