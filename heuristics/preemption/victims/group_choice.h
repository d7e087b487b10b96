// Chooses which of the evicted or evictable groups leave: all together, by amounts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Running pods of one gang that leave, or come back, together.
struct VictimGroup {
  std::vector<PodIndex> pods;
  QueueIndex queue;
  std::size_t kind = 0;        // of the work, see WorkByKind
  Work work = 0, largest = 0;  // without weight, of all and of one pod
  std::int64_t loss = 0;       // of the level `evicted`, if they leave
  bool is_gone = false;
  bool is_reclaimed = false;  // or would be
  bool leaves = false;        // the choice

  bool costs_less_than(const VictimGroup& other) const;  // for so much work
};

struct QueueRoom {
  // Work with devices: how much of each leaf queue may leave before its share decreases, and how much it has beyond its
  // own share, without evictions.
  Indexed<QueueIndex, Work> spare, beyond_share;
  bool is_hard = false;  // no more than `spare` may leave, and in total not more than has left
};

// Chooses as much as has left, those first whose eviction costs least, and of no queue more than it has to spare unless
// there is no other way. If a queue is then below its share, one of the groups reclaimed from it is large enough that
// the queue would not be below with it, if such a group exists. Sorts the groups by cost. Cost: O(groups x log).
void choose_victims(std::vector<VictimGroup>& groups, const QueueRoom& room);

}  // namespace muster::preemption
