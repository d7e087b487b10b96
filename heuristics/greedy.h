// A good plan now: gangs one after another, whole or not at all, in several orders side by side.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "heuristics/cluster_state.h"
#include "model/fair_share.h"
#include "model/levels.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

// Asked now and then by whatever runs long; true: stop soon and keep what there is. Owned by the portfolio, which alone
// knows the clock. Never asked in deterministic mode, where work limits take its place.
using StopRequest = std::function<bool()>;

// When a start is to stop; either may be empty. With `claims` it makes no more room, but fills what there is and looks
// for other victims; with `all` it ends.
struct StartStops {
  StopRequest all, claims;
};

struct Candidate;

struct GreedyOptions {
  std::uint64_t seed = 1;
  std::int32_t threads = 1;
  std::int32_t starts = 4;    // orders tried; the first is the policy's own order
  bool oldest_first = false;  // a single start, in which those come first who have waited longest and fit in sum
  bool first_alone = false;   // the other starts wait for the first, which so has the caches and the memory to itself
  StartStops stop;            // of the first start; `all`: of the search for other victims, too
  std::function<void(Candidate)> on_placed;        // given what the first start places before it evicts or moves a pod
  std::function<void(const Candidate&)> on_first;  // told the plan of the first start, long before the best one
  StartStops stop_more;       // of all starts but the first, sooner; without `all`: as the first
};

struct Candidate {
  Plan plan;
  Levels levels;
  bool ran_out = false;  // of time: not all was tried that could be placed beside it, or room be made for
};

// The best of `starts` plans by the levels. Each is feasible by the rules; with a stop request the gangs not reached
// stay pending. The same answer for any number of threads. Never worse than "place nothing" and completes or evicts
// stale gangs.
Candidate solve_greedy(const Problem& problem, const FairShares& shares, const GreedyOptions& options);

// Turns the end state of a plan (which pods are present, and where) into a plan that says so: placements with the least
// `after` lists, evictions with their reasons and claimants. `claimants[pod]` names the gang an evicted or moved pod
// makes room for. Gangs whose minimum has to wait wait whole.
struct PlannedEviction {
  PodIndex pod;
  EvictionReason reason;
  GangIndex for_gang;
};
Plan plan_of(const Problem& problem, const ClusterState& end_state, const std::vector<PlannedEviction>& evictions);
// The same, and the placed pods that cannot be bound in any order that was found: with them the plan breaks a rule.
struct OrderedPlan {
  Plan plan;
  std::vector<PodIndex> unbound;
};
OrderedPlan ordered_plan_of(const Problem& problem, const ClusterState& end_state,
                            const std::vector<PlannedEviction>& evictions);

}  // namespace muster
