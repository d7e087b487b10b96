#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/subset_sums.h"

namespace muster {
namespace {

std::int64_t profit_of(std::int64_t capacity, const std::vector<KnapsackItem>& items) {
  FractionalKnapsack knapsack(capacity);
  for (const KnapsackItem& item : items) knapsack.add(item);
  return knapsack.profit();
}

TEST(FractionalKnapsack, TakesTheDensestAndPartOfTheNext) {
  EXPECT_EQ(profit_of(10, {{4, 4, 1}, {6, 12, 1}}), 16);
  EXPECT_EQ(profit_of(9, {{4, 4, 1}, {6, 12, 1}}), 15);
  EXPECT_EQ(profit_of(7, {{2, 3, 5}}), 10);  // three and a half of them, rounded down
  EXPECT_EQ(profit_of(0, {{1, 7, 3}, {0, 5, 2}}), 10);
  EXPECT_EQ(profit_of(3, {}), 0);
}

TEST(FractionalKnapsack, WhatIsThereGivesWayToWhatIsDenser) {
  FractionalKnapsack knapsack(4);
  knapsack.add({2, 2, 3});
  EXPECT_EQ(knapsack.profit(), 4);
  knapsack.add({3, 9, 1});
  EXPECT_EQ(knapsack.profit(), 10);
  knapsack.add({1, 100, 4});
  EXPECT_EQ(knapsack.profit(), 400);
}

TEST(FractionalKnapsack, Saturates) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(profit_of(kMost, {{kMost, kMost, 1}, {kMost / 2, kMost, 1'000'000}}), kMost);
  EXPECT_EQ(profit_of(kMost / 2, {{kMost, kMost, 1'000'000}}), kMost / 2);
}

TEST(FractionalKnapsack, IsNeverBelowTheBestOfWholeItems) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 2'000; ++round) {
    std::vector<KnapsackItem> items;
    for (std::int64_t i = below(6); i >= 0; --i) items.push_back({below(8), below(20), below(3)});
    const std::int64_t capacity = below(30);
    std::vector<std::int64_t> best(static_cast<std::size_t>(capacity) + 1, 0);  // Bellman's table
    for (const KnapsackItem& item : items) {
      for (std::int64_t copy = 0; copy < item.count; ++copy) {
        for (std::int64_t at = capacity; at >= item.weight; --at) {
          auto& here = best[static_cast<std::size_t>(at)];
          here = std::max(here, best[static_cast<std::size_t>(at - item.weight)] + item.profit);
        }
      }
    }
    std::int64_t densest = 0;
    for (const KnapsackItem& item : items) densest = std::max(densest, item.profit);
    EXPECT_GE(profit_of(capacity, items), best.back());
    EXPECT_LE(profit_of(capacity, items), best.back() + densest);
  }
}

}  // namespace
}  // namespace muster
