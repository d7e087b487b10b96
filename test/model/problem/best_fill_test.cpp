#include "model/problem/best_fill.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/base/semantics.h"

namespace muster {
namespace {

using Value = std::pair<std::int64_t, std::int64_t>;  // what is filled, and what it is worth

Value value_of(const std::vector<FillItem>& items, const std::vector<std::size_t>& chosen) {
  Value value{0, 0};
  for (const std::size_t i : chosen) {
    value.first += items[i].size;
    value.second += items[i].size * items[i].worth;
  }
  return value;
}

Value best_by_trying_all(const std::vector<FillItem>& items, std::int64_t capacity) {
  Value best{0, 0};
  for (std::uint32_t set = 0; set < 1U << items.size(); ++set) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if ((set >> i & 1U) != 0) chosen.push_back(i);
    }
    const Value value = value_of(items, chosen);
    if (value.first <= capacity) best = std::max(best, value);
  }
  return best;
}

TEST(BestFill, FillsFirstAndThenPrefersWhatIsWorthMost) {
  const std::vector<FillItem> items{{3, 9}, {2, 5}, {2, 4}, {4, 1}};
  EXPECT_EQ(best_fill(items, 5), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(best_fill(items, 4), (std::vector<std::size_t>{1, 2})) << "worth more than the one of size 4";
  EXPECT_EQ(best_fill(items, 6), (std::vector<std::size_t>{1, 3})) << "3 + 2 fill less";
  EXPECT_EQ(best_fill(items, 1), std::vector<std::size_t>{});
  EXPECT_EQ(best_fill(items, -5), std::vector<std::size_t>{});
  EXPECT_EQ(best_fill({}, 5), std::vector<std::size_t>{});
}

TEST(BestFill, EqualsTheBestOfAllSubsets) {
  std::mt19937 random(7);
  for (int round = 0; round < 3'000; ++round) {
    const auto draw = [&](std::uint32_t bound) { return static_cast<std::int64_t>(random() % bound); };
    std::vector<FillItem> items(random() % 9);
    const std::int64_t unit = 1 + draw(3) * 500'000;
    for (FillItem& item : items) item = {unit * (1 + draw(6)), draw(5)};
    std::ranges::sort(items, std::greater<>{}, &FillItem::worth);
    const std::int64_t capacity = draw(20) * unit + unit / 2;
    const std::vector<std::size_t> chosen = best_fill(items, capacity);
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    EXPECT_EQ(value_of(items, chosen), best_by_trying_all(items, capacity)) << round;
  }
}

TEST(BestFill, TakesTheFirstOnesWhereTheCapacityIsLarge) {
  const std::int64_t units = kSemantics.fill_units;
  std::vector<FillItem> items;
  for (std::int64_t i = 0; i < 3 * units; ++i) items.push_back({1, 3 * units - i});
  const std::vector<std::size_t> chosen = best_fill(items, 2 * units);
  ASSERT_EQ(chosen.size(), static_cast<std::size_t>(2 * units));
  EXPECT_EQ(chosen.back(), static_cast<std::size_t>(2 * units - 1));
}

}  // namespace
}  // namespace muster
