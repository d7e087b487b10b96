// A better plan out of a good one: pods that the plan places change places, make way for others or are joined by some,
// a few nodes at a time.
//
// Large neighbourhood search (Shaw 1998; ruin and recreate, Schrimpf et al. 2000). Part of what the plan put on a few
// nodes is taken off and put back in another way, together with pods that wait; the change is kept where it is better
// by the levels, or equal in all of them and leaves more that the expected workload can use. Gangs that differ in
// nothing but their age take each other's places at once (seniority_exchange.h). Who is evicted or moved stays as it
// is.
#pragma once

#include <cstdint>
#include <limits>

#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/problem.h"

namespace muster {

struct SearchOptions {
  std::uint64_t seed = 1;
  std::int32_t threads = 1;
  std::int64_t most_trials = std::numeric_limits<std::int64_t>::max();  // the work limit: changes that are tried
  // May be empty, where there is a work limit. Asked for the first time when all is ready to begin, by one thread; to
  // end takes about as long as it took until then.
  StopRequest stop = {};
};

// Never worse than `incumbent` by the levels, and feasible where that is. The same answer for any number of threads,
// but for the stop request. Cost: O(pods + nodes) to begin and to end, some 10 microseconds a trial.
Candidate search(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                 const SearchOptions& options);

}  // namespace muster
