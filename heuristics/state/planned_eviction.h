// A pod that an engine evicts or moves.
#pragma once

#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

struct PlannedEviction {
  PodIndex pod;
  EvictionReason reason;
  GangIndex for_gang;  // the gang that the pod makes room for
};

}  // namespace muster
