#include <gtest/gtest.h>

#include "cli/agent/runner.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Pace::Time kStart{seconds(1'000)};

TEST(Pace, AllowsAsMuchAsThereIs) {
  Pace pace(10, seconds(1), kStart);
  EXPECT_TRUE(pace.take(10, kStart));
  EXPECT_FALSE(pace.take(1, kStart));
  EXPECT_FALSE(pace.take(1, kStart + milliseconds(99)));
  EXPECT_TRUE(pace.take(1, kStart + milliseconds(100)));
}

TEST(Pace, NeverHoldsMoreThanOnePeriodsWorth) {
  Pace pace(10, seconds(1), kStart);
  EXPECT_TRUE(pace.take(10, kStart + seconds(100)));
  EXPECT_FALSE(pace.take(1, kStart + seconds(100)));
}

TEST(Pace, MoreThanThereEverIsCostsTimeAfterwards) {
  Pace pace(10, seconds(1), kStart);
  EXPECT_TRUE(pace.take(1, kStart));
  EXPECT_FALSE(pace.take(30, kStart)) << "it is not full";
  EXPECT_EQ(pace.when(30, kStart), kStart + milliseconds(100));
  EXPECT_TRUE(pace.take(30, kStart + milliseconds(100)));
  EXPECT_FALSE(pace.take(1, kStart + seconds(2)));
  EXPECT_TRUE(pace.take(1, kStart + milliseconds(2'200)));
}

TEST(Pace, TellsWhenThereWillBeEnough) {
  Pace pace(60, seconds(60), kStart);
  EXPECT_TRUE(pace.take(60, kStart));
  EXPECT_EQ(pace.when(5, kStart), kStart + seconds(5));
  EXPECT_EQ(pace.when(5, kStart + seconds(7)), kStart + seconds(7)) << "now";
}

TEST(Pace, OfNothingAllowsNothing) {
  Pace pace(0, seconds(60), kStart);
  EXPECT_FALSE(pace.take(1, kStart + seconds(1'000)));
}

}  // namespace
}  // namespace muster::cli
