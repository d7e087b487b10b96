// A good plan quickly: gangs one after another, all or nothing, in several orders concurrently.
#pragma once

#include "heuristics/greedy/options.h"
#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::greedy {

// The best of `starts` plans by the levels. Each is feasible by the rules; with a stop request the gangs not reached
// stay pending. The same answer for any number of threads. Never worse than "place nothing" and completes or evicts
// stale gangs.
Candidate solve_greedy(const Problem& problem, const FairShares& shares, const GreedyOptions& options);

}  // namespace muster::greedy
