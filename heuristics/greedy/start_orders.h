// The orders of the starts of greedy, from the policy's own to the one that packs best.
#pragma once

#include <vector>

#include "heuristics/greedy/options.h"
#include "heuristics/greedy/placing_order.h"
#include "heuristics/greedy/start_context.h"

namespace muster::greedy {

// Of the starts that may differ in their plans; of those that cannot, the first. At least one.
std::vector<PlacingOrder> distinct_orders(const StartContext& context, const GreedyOptions& options);

}  // namespace muster::greedy
