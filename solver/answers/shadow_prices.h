// What one more of something would admit: a node of each kind, a GPU of quota or of limit for each queue.
//
// A shadow price in the sense of linear programming, except that it is found by solving the cluster with one unit more
// and so counts whole gangs.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/tuning.h"
#include "model/change/change.h"
#include "solver/answers/experiment.h"

namespace muster::answers {

struct ShadowPrice {
  change::Change change;
  std::int64_t gangs = 0;  // that run or start with it, minus those that do without it
  MicroGpu gpus = 0;       // the same of allocated GPUs
  bool proven = false;     // both plans are proven optimal
};

struct ShadowPrices {
  std::vector<ShadowPrice> prices;       // those that admit most come first
  std::vector<change::Change> left_out;  // in the order asked: the time or the tests ended first
};

// A plan without the change still holds with it, so no price is below zero: a found plan that has fewer GPUs allocated
// counts as that one. Those that admit nothing are listed, too. Asked in this order: the kinds of nodes that most nodes
// have, then the queues with most waiting gangs. `most_tests`: prices at most. Cost: a solve for each.
ShadowPrices shadow_prices(Experiment& experiment, const Run& base, std::int64_t most_tests = kTuning.answers.tests);

}  // namespace muster::answers
