// The best outcome of a tiny problem, found by examining all of them. Independent of the engines: of the model it uses
// the problem, the fair shares and the levels, and it states the rules of placement again, in its own way.
//
// Which pods run, and what they add to the levels that depend on nodes, is enumerated node by node. A state is the
// number of pods of each kind that have a node so far (with what anti-affinity and memory-dependent usage need to
// know), and only the best way to reach a state is kept, since all that follows depends on the state alone. Equal pods
// and equal devices are never distinguished. Running pods stay; nothing is evicted or moved, so the policy should allow
// `place` alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::brute_force {

struct Best {
  Levels levels;
  Plan plan;                  // one with these levels; `after` names every releasing pod
  std::int64_t states = 0;    // examined
  std::int64_t outcomes = 0;  // sets of pods, by kind, that the rules let run
};

// Requires at most 16 kinds of pods, of at most 15 pods each. None if more than `most_states` states would be needed.
std::optional<Best> solve(const Problem& problem, const FairShares& shares, std::int64_t most_states);

}  // namespace muster::brute_force
