#include "model/base/radix_order.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RadixOrder, SortsAsAStableSortDoes) {
  std::mt19937_64 random(7);
  std::vector<Keyed> spare;
  for (const std::size_t size : {0U, 1U, 255U, 256U, 5000U, 300U}) {
    for (const std::uint64_t mask : {0xFULL, 0xFF00FFULL, ~0ULL}) {
      std::vector<Keyed> items;
      for (std::uint32_t i = 0; i < size; ++i) items.push_back({random() & mask, i});
      std::vector<Keyed> expected = items;
      std::ranges::stable_sort(expected, {}, &Keyed::key);
      sort_by_key(items, spare);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(items[i].key, expected[i].key) << size;
        ASSERT_EQ(items[i].position, expected[i].position) << size;
      }
    }
  }
}

TEST(RadixOrder, KeysAscendAsNumbersDescend) {
  using Real = std::numeric_limits<double>;
  const std::vector<double> reals{Real::infinity(), 1e13, 2, 1.5, 1e-300, 0, -1e-300, -1, -1e13, -Real::infinity()};
  for (std::size_t i = 1; i < reals.size(); ++i) EXPECT_LT(descending_key(reals[i - 1]), descending_key(reals[i]));
  EXPECT_EQ(descending_key(0.0), descending_key(-0.0));
  using Whole = std::numeric_limits<std::int64_t>;
  const std::vector<std::int64_t> wholes{Whole::max(), 1000, 1, 0, -1, -1000, Whole::min()};
  for (std::size_t i = 1; i < wholes.size(); ++i) EXPECT_LT(descending_key(wholes[i - 1]), descending_key(wholes[i]));
}

}  // namespace
}  // namespace muster
