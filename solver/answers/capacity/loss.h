// What a plan takes from what runs.
#pragma once

#include <cstdint>

#include "solver/answers/experiment.h"

namespace muster::answers {

struct Loss {
  std::int64_t evicted_pods = 0, moved_pods = 0;
  std::int64_t evicted_gangs = 0;                 // of which a pod is evicted
  std::int64_t evicted_work = 0, moved_work = 0;  // thousandths of a GPU x seconds, see model/problem/eviction_loss.h

  friend bool operator==(const Loss&, const Loss&) = default;
};

// Cost: O(evictions x log).
Loss loss_of(const Run& run);

}  // namespace muster::answers
