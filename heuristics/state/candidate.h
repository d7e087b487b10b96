// A plan that an engine offers, with its value.
#pragma once

#include <functional>

#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

struct Candidate {
  Plan plan;
  Levels levels;
  bool ran_out = false;  // of time: not all was tried that could be placed beside it, or room be made for
};

// A pod that an engine evicts or moves.
struct PlannedEviction {
  PodIndex pod;
  EvictionReason reason;
  GangIndex for_gang;  // the gang that the pod makes room for
};

// The request to stop long-running work.
//
// Asked from time to time by all work that may take long; true: stop soon and keep what has been found. The portfolio
// owns it, since it alone knows the clock. Never asked in deterministic mode, where work limits take its place.
using StopRequest = std::function<bool()>;

}  // namespace muster
