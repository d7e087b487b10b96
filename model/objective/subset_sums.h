// All sums that subsets of a growing multiset of integers can have, up to a capacity.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/problem/problem.h"

namespace muster {

// Items are added one kind at a time; best() may be called in between. Source: Bellman (1957), on bit sets, with counts
// split into powers of two; while there are few sums they are kept as a sorted list. Exact while capacity / divisor
// stays below 2^30 or there are at most 2^20 different sums; beyond that a lower bound.
class SubsetSums {
 public:
  // Requires that `divisor` (> 0) divides every item to come.
  SubsetSums(std::int64_t capacity, std::int64_t divisor);

  // Cost: O(log count x sums), in words of 64 sums once there are many. Next to nothing for the first kind, as long as
  // there is no other, and once the capacity is reached.
  void add(std::int64_t item, std::int64_t count);
  // The largest sum that is at most the capacity; 0 with the empty subset.
  std::int64_t best() const { return best_ * divisor_; }
  // Whether best() is the capacity itself, rounded down to the divisor: no further item can improve it.
  bool is_full() const { return best_ == capacity_; }

 private:
  void list_sums(std::int64_t item, std::int64_t count);
  void add_once(std::int64_t item);
  void add_to_list(std::int64_t item);
  void add_to_bits(std::int64_t item);
  void turn_into_bits();

  std::int64_t capacity_, divisor_;
  std::int64_t best_ = 0;
  std::int64_t first_item_ = 0, first_count_ = 0;  // the only kind so far: its sums need no list
  std::vector<std::int64_t> list_{0};              // ascending; empty once bits_ are in use
  std::vector<std::uint64_t> bits_;                // bit s: the sum s can be had
};

// Items with the number of their occurrences, largest first; the levels' interface to SubsetSums.
struct CountedItem {
  std::int64_t item = 0;
  std::int64_t count = 0;
};
// Puts equal items together, drops zeros, sorts.
std::vector<CountedItem> count_items(std::vector<CountedItem> items);

// The largest sum <= capacity of a subset of `items` (all >= 0). Exact within the limits of SubsetSums.
// Source: Bellman (1957), on bit sets. Cost: O(sum of log multiplicities x capacity / gcd / 64); O(n) where all of it
// fits.
Work best_subset_sum(const std::vector<Work>& items, Work capacity);

// The bound of a knapsack by its linear relaxation.
//
// `count` equal items, of which any part may be taken. All >= 0.
struct KnapsackItem {
  std::int64_t weight = 0, profit = 0;  // of one of them
  std::int64_t count = 1;
};

// The maximum profit of items, at most one of them fractional, whose weights sum to no more than the capacity. Items
// can be added at any time. Source: Dantzig (1957). Cost: O(log n) for each item, amortised.
class FractionalKnapsack {
 public:
  // Requires capacity >= 0.
  explicit FractionalKnapsack(std::int64_t capacity) : capacity_(capacity) { MUSTER_REQUIRE(capacity >= 0); }

  void add(const KnapsackItem& item);
  // Rounded down, and so a bound of the profit of whole items. Saturates.
  std::int64_t profit() const;

 private:
  struct IsDenser {
    bool operator()(const KnapsackItem& a, const KnapsackItem& b) const {
      return Wide{a.profit} * b.weight > Wide{b.profit} * a.weight;
    }
  };

  std::int64_t capacity_;
  Wide weight_ = 0, profit_ = 0;                                               // of all that is in
  std::priority_queue<KnapsackItem, std::vector<KnapsackItem>, IsDenser> in_;  // the least dense first
};

}  // namespace muster
