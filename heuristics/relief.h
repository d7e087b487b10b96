// Fewer victims and fewer moves for the same claims: what an integer program that was out of time left of its last
// levels.
#pragma once

#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/problem.h"

namespace muster {

// Victims who turn out not to stand in the way come back, others go who have run for a shorter time, and who was moved
// goes home where the newcomers there find room elsewhere. Never worse than `incumbent` by the levels, and feasible
// where that is. `stop` may be empty. Cost: that of greedy's exchange of victims, and a choice of a node for each
// newcomer in the way of one who was moved.
Candidate relieve(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                  const StopRequest& stop);

}  // namespace muster
