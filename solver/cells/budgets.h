// What is limited for the cluster as a whole, divided among its cells: whatever the cells do within their parts, their
// plans together keep within the whole.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"
#include "solver/cells/cells.h"

namespace muster::cells {

// By cell. Each sums up to at most the whole's, unless that is exceeded already and nothing may be added.
struct Budgets {
  struct OfQueue {
    QueueAmounts quota{}, limit{};                    // kUnlimited
    std::vector<OtherQueueResource> other_resources;  // those that it has a limit of
  };
  std::vector<Indexed<QueueIndex, OfQueue>> queues;
  std::vector<Indexed<DisruptionBudgetIndex, std::int64_t>> disruptions;  // evictions; of those that can bind
  std::vector<std::int64_t> moves;                                        // empty: not limited
};

// Limits and quotas follow the gangs: those that fit into them, in turn, take what they ask for to their cell; the rest
// is divided by what is asked for. Cost: O(pods + gangs x depth of queues + queues x cells).
Budgets divide(const Problem& problem, const Dealing& dealing);

}  // namespace muster::cells
