// A plan that an engine offers, with its value.
#pragma once

#include "model/objective/levels.h"
#include "model/snapshot/plan.h"

namespace muster {

struct Candidate {
  Plan plan;
  Levels levels;
  bool ran_out = false;  // of time: not all was tried that could be placed beside it, or room be made for
};

}  // namespace muster
