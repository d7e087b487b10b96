// Expected starts against actual ones.
#include "datasets/simulation/told_starts.h"

#include <gtest/gtest.h>

namespace muster::simulation {
namespace {

constexpr Nanoseconds kMinute = 60 * kNanosecondsPerSecond;

TEST(ToldStarts, AreRightWithinAFactorOfTwoOrAPeriod) {
  const std::vector<ToldWait> waits = {{10 * kMinute, 10 * kMinute},
                                       {10 * kMinute, 20 * kMinute},
                                       {10 * kMinute, 21 * kMinute},
                                       {41 * kMinute, 20 * kMinute},
                                       {1, kMinute}};
  const ToldStatistics statistics = told_statistics_of(waits, kMinute);
  EXPECT_EQ(statistics.count, 5);
  EXPECT_DOUBLE_EQ(statistics.within_twice, 0.6);
  EXPECT_DOUBLE_EQ(statistics.p10, 10.0 / 21);
  EXPECT_DOUBLE_EQ(statistics.p50, 1);
  EXPECT_DOUBLE_EQ(statistics.p90, 2.05);
  EXPECT_DOUBLE_EQ(told_statistics_of(waits, kMinute / 2).within_twice, 0.4) << "the last is a period late";
  EXPECT_EQ(told_statistics_of({}, kMinute).count, 0);
}

}  // namespace
}  // namespace muster::simulation
