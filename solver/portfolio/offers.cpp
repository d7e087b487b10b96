#include "solver/portfolio/offers.h"

#include <chrono>
#include <utility>

#include "model/referee/referee.h"

namespace muster::portfolio {

Offers::Offers(const CycleTask& task) : task_(task), tracer_(task.ids(), task.options().trace) {}

void Offers::put_first(Offer offer) {
  tracer_.tell(offer.origin, offer.candidate.levels, offer.bounds);
  all_.insert(all_.begin(), std::move(offer));
}

void Offers::put_better(Candidate candidate, Origin origin, bool is_repacked) {
  Offer found{std::move(candidate), origin, best().bounds, is_repacked};
  forget_bounds_after_change(best(), found);
  put_first(std::move(found));
}

void Offers::put_searched(Candidate candidate) {
  Offer found{std::move(candidate), Origin::kSearch, best().bounds};
  forget_bounds_after_change(best(), found);
  tracer_.tell(Origin::kSearch, found.candidate.levels, found.bounds);
  if (best().origin == Origin::kSearch && all_.size() > 1)
    best() = std::move(found);
  else
    all_.insert(all_.begin(), std::move(found));
}

void Offers::put_alone(Candidate candidate) {
  tracer_.tell(Origin::kGreedy, candidate.levels, {});
  all_.assign(1, {std::move(candidate), Origin::kGreedy, {}});
}

void Offers::take(engine::MilpOutcome outcome) {
  note_faults(outcome);
  if (outcome.improved)
    all_.insert(all_.begin(), {std::move(outcome.best), Origin::kMilp, std::move(outcome.bounds)});
  else
    merge_bounds(outcome.bounds, task_.ids(), best().bounds);
}

void Offers::note_faults(const engine::MilpOutcome& outcome) {
  defects_.insert(defects_.end(), outcome.defects.begin(), outcome.defects.end());
  for (const auto& [rule, times] : outcome.refused) refused_[rule] += times;
}

void Offers::add_known_bounds(Offer& offer) const {
  merge_bounds(task_.sums().reached(offer.candidate.levels), task_.ids(), offer.bounds);
  settle_nothing(offer);
}

// If nothing better than the empty plan is placed, evicted or moved, it decides the remaining levels alone.
void Offers::settle_nothing(Offer& offer) const {
  const Plan& plan = offer.candidate.plan;
  if (!plan.placements.empty() || !plan.evictions.empty() || !task_.counts_all()) return;
  const std::vector<LevelId>& ids = task_.ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].kind > LevelKind::kMoved)
      offer.bounds[i] = offer.candidate.levels.values[i];
    else if (offer.bounds[i] != offer.candidate.levels.values[i])
      return;
  }
}

bool Offers::is_proven() {
  add_known_bounds(best());
  return is_settled(best());
}

bool Offers::is_good_enough() {
  add_known_bounds(best());
  return is_within_gap(best(), task_.ids(), task_.options().gap, task_.snapshot().policy.placement);
}

bool Offers::is_open_before_evictions() const {
  const std::vector<std::int64_t>& values = best().candidate.levels.values;
  for (std::size_t i = 0; i < task_.ids().size() && task_.ids()[i].kind < LevelKind::kEvicted; ++i)
    if (i >= best().bounds.size() || best().bounds[i] != values[i]) return true;
  return false;
}

bool Offers::passes(const Offer& offer) {
  const std::vector<referee::Violation> violations = referee::check_plan(
      task_.snapshot(), task_.problem(), task_.shares(), offer.candidate.plan, task_.options().threads, 1);
  if (violations.empty()) return true;
  ++rejected_;
  defects_.push_back("a " + std::string(origin_name(offer.origin)) +
                     " plan was rejected: " + std::string(referee::rule_name(violations[0].rule)) + ", " +
                     violations[0].subject + ": " + violations[0].message);
  return false;
}

bool Offers::check_best() {
  bool has_passed = false;
  while (!has_passed && !all_.empty()) {
    const Clock::time_point before = Clock::now();
    has_passed = passes(all_.front());
    checking_ms_ = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
    if (!has_passed) all_.erase(all_.begin());
  }
  if (has_passed) return true;
  all_.push_back(least_offer(task_.problem(), task_.shares()));  // no place to start from
  return passes(all_.front());
}

void Offers::move_counts_to(Solution& solution) {
  solution.defects.insert(solution.defects.begin(), defects_.begin(), defects_.end());
  solution.rejected_plans = rejected_;
  solution.refused = std::move(refused_);
}

}  // namespace muster::portfolio
