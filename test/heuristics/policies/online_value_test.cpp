#include "heuristics/policies/online_value.h"

#include <vector>

#include <gtest/gtest.h>

#include "heuristics/policies/online_tie_break.h"

namespace muster::policies {
namespace {

const std::vector<OnlineType> kTypes{{16, 64, 2}};
const std::vector<OnlineClass> kClasses{{2, 4, 1, 50, 1}, {4, 8, 1, 100, 1}, {4, 8, 2, 100, 1}, {2, 4, 0, 0, 1}};
const std::vector<double> kBids{0.5, 1, 2.5, 0}, kCounts{4, 2, 1, 1};

float value_of(double cpu, double memory, const std::vector<std::uint8_t>& levels) {
  OnlineValue value(kTypes, kClasses, kBids, kCounts);
  return value.value({0, cpu, memory, levels}).value;
}

TEST(OnlineValue, IsTheBestCuttingWhereCpuAndMemoryDoNotMatter) {
  EXPECT_FLOAT_EQ(value_of(16, 64, {60, 100}), 1.5F);
  EXPECT_FLOAT_EQ(value_of(16, 64, {40, 49}), 0);
  EXPECT_FLOAT_EQ(value_of(16, 64, {100, 100}), 2.5F);  // by the pod that takes both
}

TEST(OnlineValue, IsLessWhereTheCpuDoesNotSuffice) {
  // One half fits, worth 0.5; the grid of prices gives 0.6.
  EXPECT_NEAR(value_of(2, 64, {100, 100}), 0.6, 0.1);
  EXPECT_FLOAT_EQ(value_of(0, 64, {100, 100}), 0);
}

TEST(OnlineValue, NeverGrowsWhenSomethingIsTaken) {
  for (const double cpu : {16.0, 9.0, 5.0, 3.0}) {
    for (const int free : {100, 70, 50, 20}) {
      const auto level = static_cast<std::uint8_t>(free);
      EXPECT_LE(value_of(cpu - 2, 40, {level, 100}), value_of(cpu, 40, {level, 100}) + 1e-5F);
      EXPECT_LE(value_of(cpu, 40, {static_cast<std::uint8_t>(free - 20), 100}),
                value_of(cpu, 40, {level, 100}) + 1e-5F);
    }
  }
}

TEST(OnlineUsable, IsLimitedByTheCopiesThatTheCpuAllows) {
  const OnlineUsable usable({{4, 8, 1, 50, 1}}, {1}, 1);
  const std::vector<std::uint8_t> levels{50, 100};
  EXPECT_DOUBLE_EQ(usable.of({0, 12, 64, levels}), 1.5);
  EXPECT_DOUBLE_EQ(usable.of({0, 8, 64, levels}), 0.75);
  EXPECT_DOUBLE_EQ(usable.of({0, 3, 64, levels}), 0);
}

TEST(OnlineUsable, CountsCopiesInFractionsLessAHalf) {
  // Three copies are fit the devices; one class runs short of cpu, the other never does.
  const OnlineUsable usable({{4, 8, 1, 50, 1}, {0, 8, 1, 50, 1}}, {1, 3}, 1);
  const std::vector<std::uint8_t> levels{50, 100};
  EXPECT_DOUBLE_EQ(usable.of({0, 10, 64, levels}), 1.5 * (0.75 + 0.25 * (2.5 - 0.5) / 3));
  EXPECT_DOUBLE_EQ(usable.of({0, 6, 64, levels}), 1.5 * (0.75 + 0.25 * (1.5 - 0.5) / 3));
  EXPECT_DOUBLE_EQ(usable.of({0, 0, 64, levels}), 1.5 * 0.75);
}

TEST(OnlineUsable, NeverGrowsWithLessCpu) {
  const OnlineUsable usable({{1, 8, 1, 50, 1}, {3, 8, 1, 50, 1}, {5, 8, 2, 100, 1}}, {1, 3, 2}, 1);
  const std::vector<std::uint8_t> levels{50, 100, 100};
  for (int tenths = 200; tenths > 0; --tenths)
    EXPECT_LE(usable.of({0, tenths / 10.0 - 0.1, 64, levels}), usable.of({0, tenths / 10.0, 64, levels}) + 1e-9);
}

TEST(OnlineHosts, PremiumGrowsWithTheChanceThatAHostWillBeMissed) {
  OnlineHosts hosts(kTypes, kClasses, kCounts);
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts.hosted(0, 4, 8, 2), 1U);
  EXPECT_EQ(hosts.hosted(0, 4, 8, 1), 0U);
  hosts.price({1000}, 10);
  EXPECT_NEAR(hosts.premium(1), 0, 1e-6);
  hosts.price({1}, 1000);
  EXPECT_NEAR(hosts.premium(1), 0.2, 1e-6);
  EXPECT_EQ(hosts.premium(0), 0);
}

}  // namespace
}  // namespace muster::policies
