#include "solver/portfolio/search_stage.h"

#include <utility>

#include "heuristics/local_search/repacking.h"
#include "model/base/tuning.h"
#include "solver/portfolio/search_clock.h"
#include "solver/portfolio/search_turns.h"

namespace muster::portfolio {

bool SearchStage::is_due() const {
  return task_.may_search() &&
         (!task_.has_clock() || time_.left_ms() - time_.reserve_ms(offers_) > time_.plan().needs.search);
}

// With a clock, a stop request is still to be added.
local_search::SearchOptions SearchStage::options() const {
  local_search::SearchOptions search_options;
  search_options.seed = task_.options().seed;
  search_options.threads = task_.options().threads;
  if (!task_.has_clock()) search_options.most_trials = time_.plan().search.most_trials;
  return search_options;
}

void SearchStage::run(bool once) {
  if (!offers_.is_checked()) offers_.check_best();
  const Clock::time_point start = Clock::now();
  SearchClock clock(time_.end(offers_));
  if (task_.has_clock() && !clock.has_time()) return;
  local_search::SearchOptions search_options = options();
  // If all levels are proven, the search only distinguishes plans that are equal in all of them.
  if (offers_.is_proven()) search_options.most_trials = time_.plan().search.settled_trials;
  SearchTurns turns;
  const auto possible = [&] { return possible_aims(offers_.best(), task_.ids(), task_.size().may_move); };
  std::vector<local_search::SearchAim> aims = possible();
  bool goes_on = true;
  while (goes_on) {
    if (task_.has_clock()) search_options.stop = clock.next();
    search_options.aim = turns.next(aims);
    turns.note(search_options.aim, search_once(search_options));
    ++search_options.seed;
    aims = possible();
    goes_on = task_.has_clock() ? !once && clock.has_time() && !offers_.is_good_enough() : turns.number() < aims.size();
  }
  ran_out_ = clock.has_stopped();
  ms_ += milliseconds_since(start);
}

// Whether it has found a plan with better levels.
bool SearchStage::search_once(const local_search::SearchOptions& search_options) {
  const Candidate& best = offers_.best().candidate;
  Candidate found = local_search::search(task_.problem(), task_.shares(), best, search_options);
  if (found.plan == best.plan) return false;
  const bool is_better = found.levels.values != best.levels.values;
  offers_.put_searched(std::move(found));
  return is_better;
}

bool GatherStage::is_due() const {
  return task_.snapshot().policy.has_whole_nodes() && !offers_.empty() && !offers_.best().is_repacked;
}

void GatherStage::run() {
  const Clock::time_point start = Clock::now();
  const Clock::time_point until = time_.deadline().after(kTuning.parts.aside) - as_duration(time_.reserve_ms(offers_));
  if (task_.has_clock() && start >= until) return;
  const StopRequest stop = [&] { return task_.has_clock() && Clock::now() >= until; };
  Offer& best = offers_.best();
  local_search::Repacked repacked = local_search::repack(task_.problem(), task_.shares(), best.candidate,
                                                         task_.sums().wholeness(best.candidate.levels), stop);
  ms_ += milliseconds_since(start);
  best.is_repacked = repacked.is_complete && !repacked.better;
  if (repacked.better) offers_.put_better(*std::move(repacked.better), best.origin, repacked.is_complete);
}

}  // namespace muster::portfolio
