// The parts that the levels are computed of. Internal to model/levels.h.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/end_state.h"
#include "model/fair_share.h"
#include "model/levels.h"
#include "model/subset_sums.h"

namespace muster {

// [gpu work, cpu-only work]: the two kinds are counted apart and added at the end.
using WorkByKind = std::array<Work, 2>;
inline std::size_t kind_of(const PodClass& pod_class) { return pod_class.counts_as_gpu ? 0 : 1; }

// Position of the gang's effective priority in problem.priorities; their number where it has none of its own there.
std::size_t priority_rank(const Problem& problem, std::int32_t priority);

// Of one leaf queue and one kind: items by the rank of their priority.
struct RankedItem {
  std::size_t rank = 0;
  CountedItem counted;
};

// For each rank: the largest sum within the capacity of items of that rank or a higher priority. Requires ranks <
// `ranks`.
std::vector<Work> best_sums_by_rank(std::vector<RankedItem> items, Work capacity, std::size_t ranks);

// Adds up the values of leaf queues to the level: an inner queue counts no more than its bound, the kinds apart.
Work forest_value(const Problem& problem, const Indexed<QueueIndex, WorkByKind>& of_leaves,
                  const Indexed<QueueIndex, std::array<Work, 2>>& bounds);

// By queue and kind, the items that may count in its share.
using QueueItems = Indexed<QueueIndex, std::array<std::vector<RankedItem>, 2>>;
// The share level of each rank.
std::vector<Work> share_values(const Problem& problem, const FairShares& shares, QueueItems items);

// By rank, then queue: the work without weight of exactly that rank in each leaf queue.
struct QueueWork {
  std::vector<Indexed<QueueIndex, WorkByKind>> of_rank;
};
// The quota level of each rank: min(W, Q) on the leaves.
std::vector<Work> quota_values(const Problem& problem, const FairShares& shares, const QueueWork& work);

// What one placement of the pod adds to the levels `seniority` (where it waited) and `preference` (preferred topology
// apart).
std::int64_t seniority_of(const Problem& problem, PodIndex pod);
std::int64_t preference_of(const Problem& problem, PodIndex pod, NodeIndex node);
std::int64_t preference_value(const Problem& problem, const Plan& plan, const EndState& end_state);
std::int64_t fragmentation_value(const Problem& problem, const std::function<NodeEnd(NodeIndex)>& end_of);
std::int64_t spread_value(const Problem& problem, const std::function<NodeEnd(NodeIndex)>& end_of);

}  // namespace muster
