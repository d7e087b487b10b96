#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/local_search/plan_value.h"

namespace muster::local_search {
namespace {

TEST(RandomSource, GivesTheSameNumbersForTheSameSeed) {
  RandomSource one(7), same(7), other(8);
  const std::uint64_t first = one.next();
  EXPECT_EQ(first, same.next());
  EXPECT_NE(first, other.next());
}

TEST(RandomSource, StaysBelowTheCountAndReachesEachNumber) {
  RandomSource random(1);
  std::vector<int> seen(3, 0);
  for (int i = 0; i < 100; ++i) ++seen.at(random.below(3));
  EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times > 10; }));
}

TEST(RandomSource, DrawsFromTheUnitInterval) {
  RandomSource random(1);
  for (int i = 0; i < 100; ++i) {
    const double drawn = random.unit();
    EXPECT_GE(drawn, 0.0);
    EXPECT_LT(drawn, 1.0);
  }
}

TEST(RandomSource, KeepsTheItemsThatItShuffles) {
  std::vector<int> items(20), sorted;
  std::iota(items.begin(), items.end(), 0);
  sorted = items;
  RandomSource(3).shuffle(items);
  EXPECT_NE(items, sorted);
  std::ranges::sort(items);
  EXPECT_EQ(items, sorted);
}

}  // namespace
}  // namespace muster::local_search
