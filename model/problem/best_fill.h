// The subset of items that fills a capacity as far as possible, and among those the one worth most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster {

struct FillItem {
  std::int64_t size = 0;   // > 0
  std::int64_t worth = 0;  // >= 0, of each unit of its size
};

// The positions of the items chosen, ascending. Requires items in descending order of worth. Exact while the capacity
// is at most SemanticNumbers::fill_units common divisors of the sizes; beyond that the first items that fit are taken
// until so much is left. Source: Bellman (1957), with equal sizes taken in the order of their worth. Cost: O(items log
// sizes), and O(units^2 / size) for each different size.
std::vector<std::size_t> best_fill(std::span<const FillItem> items, std::int64_t capacity);

}  // namespace muster
