// The queue whose quota of GPUs bounds a gang (docs/semantics.md, "Reservations").
#pragma once

#include <algorithm>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// The nearest queue with a quota of GPUs on the way to the root. None: there is none, the gang is preemptible, or the
// policy does not keep what is not preemptible within quotas. Cost: O(depth).
inline QueueIndex quota_queue(const Problem& problem, const Gang& gang) {
  if (gang.preemptible || gang.queue.is_none() || !problem.snapshot->policy.non_preemptible_within_quota)
    return QueueIndex::none();
  const std::vector<QueueIndex>& path = problem.queues[gang.queue].ancestors;
  const auto found =
      std::ranges::find_if(path, [&](QueueIndex at) { return problem.queues[at].quota[kQueueGpu] != kUnlimited; });
  return found == path.end() ? QueueIndex::none() : *found;
}

}  // namespace muster
