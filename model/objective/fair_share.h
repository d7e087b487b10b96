// Fair shares of the queue forest, per resource, as docs/semantics.md ("Fair share") states them.
#pragma once

#include "model/problem/problem.h"

namespace muster {

struct FairShares {
  // By QueueIndex: gpu in millionths of a device, cpu in thousandths, memory in bytes.
  Indexed<QueueIndex, QueueAmounts> share;
  Indexed<QueueIndex, QueueAmounts> requestable;
  // F(q) and Q(q) of the levels, as work: [gpu work, cpu-only work], rounded down. An unlimited quota is the total.
  Indexed<QueueIndex, std::array<Work, 2>> share_work, quota_work;
  // Whether running pods of the gang are beyond the shares before the plan: its queue, or one above it, is over its
  // share of some resource; or its queue would be by what runs of at least the gang's priority and what waits of a
  // higher one. False if no pods may be evicted.
  Indexed<GangIndex, bool> beyond;
};

// Divides `total` among the queues. Requires usage and requestable in the units above, requestable >= 0. Cost: O(queues
// x rounds). Source: the KAI Scheduler's proportional share (quota first, then the rest by priority and weight in
// rounds, then the remainder of rounding), reimplemented.
FairShares compute_fair_shares(const Problem& problem);

}  // namespace muster
