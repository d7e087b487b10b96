// A good plan quickly: gangs one after another, all or nothing, in several orders concurrently.
#pragma once

#include <vector>

#include "heuristics/greedy/options.h"
#include "heuristics/greedy/start.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::greedy {

// The best of `starts` plans by the levels. Each is feasible by the rules; with a stop request the gangs not reached
// stay pending. The same answer for any number of threads. Never worse than "place nothing" and completes or evicts
// stale gangs.
Candidate solve_greedy(const Problem& problem, const FairShares& shares, const GreedyOptions& options);

// The orders of the starts of greedy, from the policy's own to the one that packs best.
//
// Of the starts that may differ in their plans; of those that cannot, the first. At least one.
std::vector<PlacingOrder> distinct_orders(const StartContext& context, const GreedyOptions& options);

}  // namespace muster::greedy
