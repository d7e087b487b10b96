#include "solver/portfolio/ending.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "model/base/parallel.h"

namespace muster::portfolio {

Solution Ending::run(bool ran_out) {
  bool is_told = false;
  Offer& offer = offers_.choose([&](Offer& one) { return is_told = passes_and_is_told(one, ran_out); });
  if (!is_told) {
    remember(offer);
    tell(offer, ran_out);
  }
  Solution solution;
  offers_.move_counts_to(solution);
  std::ranges::move(bound_defects_, std::back_inserter(solution.defects));
  offers_.tracer().tell(offer.origin, offer.candidate.levels, offer.bounds);
  const PlacementPolicy policy = task_.snapshot().policy.placement;
  solution.report = std::move(report_);
  solution.gap = explain::gap_of(solution.report.objective, policy);
  const bool does_nothing = offer.candidate.plan.placements.empty() && offer.candidate.plan.evictions.empty();
  solution.origin = does_nothing ? Origin::kNone : offer.origin;
  solution.proof = proof_of(offer, task_.ids(), task_.options().gap, policy);
  solution.plan = std::move(offer.candidate.plan);
  return solution;
}

// The referee, the report and the plan memory read the plan concurrently; the report on a rejected plan is not used.
// If they run one after another, the report comes last: it alone knows when to stop.
bool Ending::passes_and_is_told(Offer& offer, bool ran_out) {
  const std::int32_t threads = task_.options().threads;
  if (threads <= 1 || !referee::is_well_formed(task_.snapshot(), task_.problem(), offer.candidate.plan)) {
    if (!offers_.passes(offer)) return false;
    remember(offer);
    only_reasons_ms_ = milliseconds_since(tell(offer, ran_out));
    return true;
  }
  bool has_passed = false;
  Clock::time_point only_reasons_left, is_checked, is_remembered;
  parallel_for(3, threads, [&](std::size_t part) {
    if (part == 0) {
      has_passed = offers_.passes(offer);
      is_checked = Clock::now();
    } else if (part == 1) {
      only_reasons_left = tell(offer, ran_out);
    } else {
      remember(offer);
      is_remembered = Clock::now();
    }
  });
  only_reasons_ms_ = milliseconds_since(std::max({only_reasons_left, is_checked, is_remembered}));
  return has_passed;
}

void Ending::remember(const Offer& offer) const {
  if (task_.may_search() && task_.has_clock()) memory_.keep(task_.problem(), offer.candidate.plan);
}

// Returns when only the reasons were left.
Clock::time_point Ending::tell(Offer& offer, bool ran_out) {
  offers_.add_known_bounds(offer);
  task_.sums().tighten(offer.candidate.levels, offer.bounds);
  std::ranges::move(drop_refuted_bounds(offer, task_.ids()), std::back_inserter(bound_defects_));
  Clock::time_point only_reasons_left;
  explain::ReportInput input{offer.candidate.plan, offer.candidate.levels, offer.bounds, is_settled(offer) || !ran_out};
  // Finding the first reason takes the longest; each one has to be written, too; and marking those without time takes
  // very little.
  if (task_.has_clock())
    input.stop = [until = task_.options().deadline - as_duration(time_.plan().glance_ms),
                  first = as_duration(time_.plan().first_reason_ms), told = std::int64_t{0}]() mutable {
      const Clock::duration rest = told == 0 ? first : as_duration(time_to_write_reasons(told));
      ++told;
      return Clock::now() + rest >= until;
    };
  input.only_reasons_left = [&] { only_reasons_left = Clock::now(); };
  report_ = explain::describe(task_.problem(), task_.shares(), input);
  return only_reasons_left;
}

}  // namespace muster::portfolio
