// Which of those who have been evicted, or might be, are to go: all at once, by amounts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/index.h"
#include "model/problem.h"

namespace muster {

// Running pods of one gang that go, or come back, together.
struct Party {
  std::vector<PodIndex> pods;
  QueueIndex queue;
  std::size_t kind = 0;        // of the work, see WorkByKind
  Work work = 0, largest = 0;  // without weight, of all and of one pod
  std::int64_t loss = 0;       // of the level `evicted`, if they go
  bool is_gone = false;
  bool is_reclaimed = false;  // or would be
  bool leaves = false;        // the choice

  bool costs_less_than(const Party& other) const;  // for so much work
};

struct QueueRoom {
  // Work with devices: how much of each leaf queue may go before it loses of its share, and how much it has beyond its
  // own share, if nobody goes.
  Indexed<QueueIndex, Work> spare, beyond_share;
  bool is_hard = false;  // no more than `spare` may go, and not the least bit more in all than has gone
};

// Chooses as much as has gone, those first whose going costs least, and of no queue more than it has to spare unless
// there is no other way. Where a queue is then below its share, one of those reclaimed from it is large enough that it
// would not be with him; where there is such a one. Sorts the parties by what they cost. Cost: O(parties x log).
void choose_leavers(std::vector<Party>& parties, const QueueRoom& room);

}  // namespace muster
