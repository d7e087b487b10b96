// Bounds of the levels that hold for every plan of a problem.
#pragma once

#include <cstdint>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"

namespace muster {

// The most that any plan could reach on each level, by sums alone; the least for those that are minimised. A valid
// bound for every snapshot, whatever is evicted. Same order and scale as level_ids.
std::vector<std::int64_t> trivial_bounds(const Problem& problem, const FairShares& shares);

// The least that the level `evicted` can be of any plan with the same values of all levels `share` and `work`: what
// runs of a priority and is more than the plan has of it must leave, starting with what has run for the shortest time;
// but of no queue more than it can do without for its part of the shares, and gangs that need all of their pods whole,
// as far as a few choices deep can tell. Requires `levels` of that problem. Cost: O(pods + running pods x log + 200,000
// + priorities x queues^2), of many queues without the last.
std::int64_t least_evicted(const Problem& problem, const FairShares& shares, const Levels& levels);

}  // namespace muster
