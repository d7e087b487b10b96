// The best plan again, by plain enumeration: every pod anywhere, on any devices, for any reason and any claimant, and
// the referee checks each plan that would be better. For much smaller instances, to check the search.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"

namespace muster::brute_force {

// Values of the levels down to `moved`. None if there are more than `most_states` end states.
std::optional<Levels> solve_naively(const Problem& problem, const FairShares& shares, std::int64_t most_states);

// All levels of every plan that the referee passes, each once. None if there are more than `most_states` end states.
std::optional<std::set<std::vector<std::int64_t>>> levels_of_all_plans(const Problem& problem, const FairShares& shares,
                                                                       std::int64_t most_states);

}  // namespace muster::brute_force
