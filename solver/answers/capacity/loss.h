// What a plan takes from what runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// A pod that leaves its node for others, by names.
struct LeavingPod {
  std::string pod, gang, from;
  std::string to;  // empty: it is evicted
};

// What the plan evicts or moves for the gang, or for any gang, in the order of the plan. Cost: O(evictions x log).
std::vector<LeavingPod> leaving_pods(const Run& run, std::optional<GangIndex> for_gang = std::nullopt);

}  // namespace muster::answers
