// The best plan of a tiny problem in which running pods may be evicted and moved, found by examining every end state.
//
// Independent of the engines. Which pods run in the end, leave and are moved decides the levels down to `moved`, and
// these outcomes are examined best first. For each, all ways to put the arriving pods on nodes and devices (equal ones
// are never distinguished) and all reasons for which the leaving pods may leave are tried until the referee passes one.
// So the levels after `moved` are those of some plan, not of the best.
//
// Each placement waits for all that leaves. This loses nothing: a placement that waits for more takes capacity later,
// and no level depends on when. So what fits in the end fits in every order of departures.
#pragma once

#include <cstdint>
#include <optional>

#include "model/objective/fair_share.h"
#include "test/brute_force/brute_force.h"

namespace muster::brute_force {

// `states` counts outcomes and plans that were examined. None if there are more than `most_states`, more than
// kMostActors pods run or are pending, or no plan passes (a defect: "nothing, but what is stale goes" is always one).
std::optional<Best> solve_with_evictions(const Problem& problem, const FairShares& shares, std::int64_t most_states);

}  // namespace muster::brute_force
