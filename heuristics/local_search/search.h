// A better plan out of a good one: pods that the plan places change places, make way for others, or further pods are
// added, a few nodes at a time.
//
// Large neighbourhood search (Shaw 1998; ruin and recreate, Schrimpf et al. 2000). Part of the placements on a few
// nodes is destroyed and repaired in another way, together with waiting pods. A change is kept if it improves the
// levels, or is equal in all of them and leaves more capacity that the expected workload can use. Gangs that differ
// only in their age swap places directly (SeniorityExchange). Evictions do not change; moves do if the aim is so.
#pragma once

#include <cstdint>
#include <limits>

#include "heuristics/local_search/scope.h"
#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::local_search {

struct SearchOptions {
  SearchAim aim = SearchAim::kLevels;
  std::uint64_t seed = 1;
  std::int32_t threads = 1;
  std::int64_t most_trials = std::numeric_limits<std::int64_t>::max();  // the work limit: changes that are tried
  // May be empty if there is a work limit. Polled for the first time when all is ready to begin, by one thread; ending
  // takes about as long as that preparation.
  StopRequest stop = {};
};

// Never worse than `incumbent` by the levels, and feasible if that is. The same answer for any number of threads,
// except for the stop request. Cost: O(pods + nodes) to begin and to end, some 10 microseconds a trial.
Candidate search(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                 const SearchOptions& options);

}  // namespace muster::local_search
