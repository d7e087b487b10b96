// Which pods run, go and come: every choice that gangs and their minimums leave open, and what it is worth.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "test/brute_force/actors.h"

namespace muster::brute_force {

// What is lost and what is new; the rest of what runs stays or is moved.
struct Outcome {
  ActorSet lost = 0;   // evicted for good, as stale or not
  ActorSet stale = 0;  // of those, what goes as stale
  ActorSet placed = 0;
  ActorSet movable = 0;              // what is kept and may be moved
  std::vector<std::int64_t> values;  // of the levels down to `evicted`
};

// Number of the levels that depend on which pods run, leave, come and are moved, not on their nodes: down to `moved`.
std::size_t leading_levels(const std::vector<LevelId>& ids);

// Every outcome, the best first. Of equivalent pending pods the first ones come. Includes all outcomes that the rules
// permit, and some that they do not.
std::vector<Outcome> outcomes_of(const Problem& problem, const FairShares& shares, const Cast& cast);

// Work of the set, weight included.
std::int64_t weighted_work(const Problem& problem, const Cast& cast, ActorSet set);

// Pending pods of one gang and group that ask for the same.
bool are_alike(const Problem& problem, const Cast& cast, std::size_t a, std::size_t b);

}  // namespace muster::brute_force
