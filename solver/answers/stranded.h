// GPUs that are free once the plan is carried out, by what keeps the waiting pods off them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/explain/blockers.h"
#include "solver/answers/experiment.h"

namespace muster::answers {

struct StrandedCapacity {
  // The filter that the waiting class of pods which comes furthest meets on the node: kAvailable if some pod would fit,
  // but not its gang or its queue; `detail` as in BlockerTally.
  explain::FilterCode filter = explain::FilterCode::kAvailable;
  std::string detail;
  std::int64_t nodes = 0;
  MicroGpu gpus = 0;       // free on these nodes, parts of devices included
  std::int64_t whole = 0;  // devices that are entirely free
};

// Most GPUs first; empty if no GPU is free or no pod waits for one. Cost: O(nodes x classes of waiting pods).
std::vector<StrandedCapacity> stranded_capacity(const Run& run);

// GPUs that are free in all.
MicroGpu free_gpus(const Run& run);

}  // namespace muster::answers
