// The place of a waiting gang in its queue.
#pragma once

#include <cstdint>

#include "solver/answers/waiting_gang.h"

namespace muster::answers {

// Gangs wait if the plan leaves them below their minimum and nothing but room keeps them; one comes before another by
// its priority, then by its seniority.
struct Standing {
  std::int64_t waiting = 0;  // in the queue, this one included
  std::int64_t ahead = 0;    // of them, before this one
  std::int64_t level = 0;    // of them, neither before nor after this one; without it
  std::int64_t waiting_in_all = 0, ahead_in_all = 0, level_in_all = 0;
};

// Cost: O(gangs).
Standing standing_of(const WaitingGang& gang);

}  // namespace muster::answers
