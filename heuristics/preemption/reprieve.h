// Fewer victims and fewer moves for the same claims: makes up for the last levels of an integer program that ran out of
// time.
#pragma once

#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Victims that turn out not to be in the way come back, pods that have run for a shorter time are evicted instead, and
// moved pods return if the new pods there fit elsewhere. Never worse than `incumbent` by the levels, and feasible if
// that is. `stop` may be empty. Cost: that of greedy's exchange of victims, and a choice of a node for each new pod in
// the way of a moved one.
Candidate reprieve_victims(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                           const StopRequest& stop);

// A plan that breaks no rule but Not in vain, so changed that it keeps it: places are exchanged, or gangs that took the
// room of pods that they may not evict give way, and these come back. What gave way then claims room elsewhere, until
// asked to stop. `stop` may be empty. Cost: that of VictimRights::settle, and of a claim for each gang that gave way.
Candidate settle_rights(const Problem& problem, const FairShares& shares, const Plan& plan, const StopRequest& stop);

}  // namespace muster::preemption
