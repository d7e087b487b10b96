// The options of greedy.
#pragma once

#include <cstdint>
#include <functional>

#include "heuristics/state/candidate.h"
#include "model/snapshot/plan.h"

namespace muster::greedy {

// When a start is to stop; either may be empty. With `claims` it makes no more room, but fills what there is and looks
// for other victims; with `all` it ends.
struct StartStops {
  StopRequest all, claims;
};

struct GreedyOptions {
  std::int32_t threads = 1;
  std::int32_t starts = 0;   // orders tried at most; 0: all; 1: if sums tell what fits, the oldest first beside it
  bool first_alone = false;  // the other starts wait for the first, which then has the caches and the memory to itself
  StartStops stop;           // of the first start; `all`: of the search for other victims, too
  std::function<void(Candidate)> on_placed;        // given what the first start places before it evicts or moves a pod
  std::function<void(const Candidate&)> on_first;  // called with the plan of the first start, long before the best one
  StartStops stop_more;                            // of all starts but the first, sooner; without `all`: as the first
  const Plan* from = nullptr;  // every start adds to this plan, which obeys the rules; null: to one that does nothing
};

}  // namespace muster::greedy
