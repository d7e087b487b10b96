// The values of all levels for a plan.
#pragma once

#include <cstdint>
#include <functional>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/objective/possibilities.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

// Evaluates a plan. Requires that the plan obeys the rules. Cost: O(pods + nodes x expected classes), and a
// subset-sum for each leaf queue whose work exceeds its share.
Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan);

// The same for a caller that already knows what is free on each node.
Levels evaluate(const Problem& problem, const FairShares& shares, const Plan& plan,
                const std::function<NodeEnd(NodeIndex)>& end_of);
// What the node adds to the last level, in its scale: fragmentation, or the square of its use where the policy is to
// spread.
std::int64_t last_level_of(const Problem& problem, const NodeEnd& node);

// The first part alone, as evaluate() has it.
Levels evaluate_presence(const Problem& problem, const FairShares& shares, const Plan& plan);
// All levels of a plan whose first part is that of `presence`. Cost: O(pods + nodes x expected classes).
Levels evaluate_places(const Problem& problem, const Plan& plan, const Levels& presence);

}  // namespace muster
