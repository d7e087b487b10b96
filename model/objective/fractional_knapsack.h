// The bound of a knapsack by its linear relaxation.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"

namespace muster {

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
