// The parts that the levels are computed of. Internal to evaluation.h and level_bounds.h.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/objective/fair_share.h"
#include "model/objective/possibilities.h"
#include "model/objective/subset_sums.h"
#include "model/problem/next_snapshot.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster {

// [gpu work, cpu-only work]: the two kinds are counted apart and added at the end.
using WorkByKind = std::array<Work, 2>;
inline std::size_t kind_of(const PodClass& pod_class) { return pod_class.counts_as_gpu ? 0 : 1; }

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

// Direct-mapped cache: hash of a key -> last position. Several keys share a slot.
class RecentSlots {
 public:
  std::uint32_t& of(std::uint64_t number) { return slots_[number * kSpread >> (64 - kSlotBits)]; }
  // Combines two numbers so that each bit of either affects the result.
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return (a * kSpread) ^ b; }

 private:
  // The odd number next to 2^64 / the golden ratio (Knuth 1973), for multiplicative hashing by the high bits.
  static constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15ULL;
  static constexpr int kSlotBits = 12;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(std::size_t{1} << kSlotBits, 0);
};

// Counts equal items together, except some that occur rarely: those for which an item of the same slot came in between.
class UnitCounts {
 public:
  explicit UnitCounts(std::size_t queues) : items_(queues) {}

  void add(QueueIndex queue, std::size_t kind, std::size_t rank, const CountedItem& counted) {
    std::vector<RankedItem>& items = items_[queue][kind];
    const std::uint64_t where = (std::uint64_t{queue.value()} << 1 | kind) << 20 ^ rank;
    std::uint32_t& position = slots_.of(RecentSlots::mixed(static_cast<std::uint64_t>(counted.item), where));
    if (position < items.size() && items[position].rank == rank && items[position].counted.item == counted.item) {
      items[position].counted.count += counted.count;
      return;
    }
    position = static_cast<std::uint32_t>(items.size());
    items.push_back({rank, counted});
  }
  QueueItems take() { return std::move(items_); }

 private:
  QueueItems items_;
  RecentSlots slots_;  // positions
};

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
