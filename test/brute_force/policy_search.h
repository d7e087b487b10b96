// The best plan of a tiny problem in which running pods may be evicted and moved, found by looking at every end state.
//
// Knows no engine. Who runs in the end, who goes and who is moved decides the levels down to `moved`, and these
// outcomes are looked at best first; of each, every way to put the pods that come on nodes and devices (equal ones are
// told apart nowhere), and every reason for which those that go may go, until the referee passes one. So the levels
// after `moved` are those of some plan, not of the best.
//
// Each placement waits for all that leaves. This leaves out nothing: who waits for more takes room later, and no level
// asks when. So what fits in the end fits in every order of departures.
#pragma once

#include <cstdint>
#include <optional>

#include "model/fair_share.h"
#include "test/brute_force/brute_force.h"

namespace muster::brute_force {

// `states` counts outcomes and plans that were looked at. None where there are more than `most_states`, more than
// kMostActors pods run or are pending, or no plan passes (a defect: "nothing, but what is stale goes" is always one).
std::optional<Best> solve_with_evictions(const Problem& problem, const FairShares& shares, std::int64_t most_states);

}  // namespace muster::brute_force
