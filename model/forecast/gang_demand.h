// What a waiting gang needs to start: pods by class, and what they take of their queues.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/forecast/queue_room.h"
#include "model/problem/end_state.h"
#include "model/problem/problem.h"

namespace muster::forecast {

struct PodDemand {
  PodClassIndex pod_class;
  std::int32_t pods = 0;
};

struct GangDemand {
  std::vector<PodDemand> pods;  // those with the most work first, then by class
  QueueDemand of_queue;         // of them all; a memory request on the smallest device that it accepts
};

// What the gang lacks of its minimum at the end of a plan: the pods with the least work that complete it, pending
// ones and those that the plan evicts. None if it lacks nothing, or has too few such pods (others are gated or do not
// exist). Pods that have succeeded count as present. Cost: O(pods log pods) of the gang.
std::optional<GangDemand> demand_of(const Problem& problem, const EndState& end, const Gang& gang);

}  // namespace muster::forecast
