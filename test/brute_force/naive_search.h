// The best plan once more, with no thought at all: every pod anywhere, on any devices, for any reason and anybody's
// sake, and the referee asked of each plan that would be better. For instances far smaller yet, to check the search.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "model/fair_share.h"
#include "model/levels.h"
#include "model/problem.h"

namespace muster::brute_force {

// Values of the levels down to `moved`. None where there are more than `most_states` end states.
std::optional<Levels> solve_naively(const Problem& problem, const FairShares& shares, std::int64_t most_states);

// All levels of every plan that the referee passes, each once. None where there are more than `most_states` end states.
std::optional<std::set<std::vector<std::int64_t>>> levels_of_all_plans(const Problem& problem, const FairShares& shares,
                                                                       std::int64_t most_states);

}  // namespace muster::brute_force
