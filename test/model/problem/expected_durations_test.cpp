#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/problem/histories.h"

namespace muster {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond, kHour = 3600 * kSecond;

OverTime with(std::vector<DurationHistory> histories) {
  OverTime policy;
  policy.expected_durations = std::move(histories);
  return policy;
}

TEST(ExpectedDurations, TakesWhatTheGangTellsButAMinuteAtLeast) {
  const OverTime policy = with({{"", 1, 0, 100, 10 * kHour}});
  const ExpectedDurations durations(policy);
  EXPECT_EQ(durations.expected("q", 3, 2 * kHour), 2 * kHour);
  EXPECT_EQ(durations.expected("q", 3, kSecond), 60 * kSecond);
}

TEST(ExpectedDurations, WithoutHistoriesSinglesAreTakenToRunFourHoursAndOthersSixteen) {
  const OverTime policy = with({});
  const ExpectedDurations durations(policy);
  EXPECT_EQ(durations.expected("q", 1, std::nullopt), 4 * kHour);
  EXPECT_EQ(durations.expected("q", 2, std::nullopt), 16 * kHour);
}

TEST(ExpectedDurations, MixesTheHistoryOfTheSizeWithFiveUsualGangs) {
  const OverTime policy = with({{"", 1, 1, 5, 2 * kHour}, {"", 2, 3, 15, 8 * kHour}, {"", 8, 0, 5, 0}});
  const ExpectedDurations durations(policy);
  EXPECT_EQ(durations.expected("q", 1, std::nullopt), 3 * kHour) << "5 of 2 h, 5 of 4 h";
  EXPECT_EQ(durations.expected("q", 3, std::nullopt), 10 * kHour) << "15 of 8 h, 5 of 16 h";
  EXPECT_EQ(durations.expected("q", 4, std::nullopt), 16 * kHour) << "no history of this size";
  EXPECT_EQ(durations.expected("q", 100, std::nullopt), 8 * kHour) << "the last one has no end";
}

TEST(ExpectedDurations, TheHistoryOfTheQueueCountsBesideTenOfAllQueues) {
  const OverTime policy = with({{"", 1, 1, 5, 2 * kHour}, {"q", 1, 1, 30, kHour}, {"other", 1, 1, 30, 9 * kHour}});
  const ExpectedDurations durations(policy);
  EXPECT_EQ(durations.expected("q", 1, std::nullopt), 3 * kHour / 2) << "30 of 1 h, 10 of 3 h";
  EXPECT_EQ(durations.expected("new", 1, std::nullopt), 3 * kHour);
}

TEST(ExpectedRest, IsWhatIsLeftOrHalfTheRunTimeAgain) {
  EXPECT_EQ(expected_rest(5 * kHour, kHour), 4 * kHour);
  EXPECT_EQ(expected_rest(kHour, kHour - kSecond), 60 * kSecond);
  EXPECT_EQ(expected_rest(kHour, kHour), kHour / 2);
  EXPECT_EQ(expected_rest(kHour, 10 * kHour), 5 * kHour);
  EXPECT_EQ(expected_rest(60 * kSecond, 61 * kSecond), 600 * kSecond);
}

TEST(TurnIndex, IsSizeToTwoThirdsTimesWaitOverDuration) {
  EXPECT_EQ(turn_index(1, 0, kHour), 1'000);
  EXPECT_EQ(turn_index(1, 3'600, kHour), 2'000);
  EXPECT_EQ(turn_index(8, 0, kHour), 4'000);
  EXPECT_EQ(turn_index(2, 0, kHour), 1'587) << "1000 x 1.5874, rounded down";
  EXPECT_EQ(turn_index(1, 0, 7 * kHour), 142);
  EXPECT_EQ(turn_index(27'000'000, 0, kHour), 90'000'000);
  EXPECT_EQ(turn_index(1'000'000'000, std::numeric_limits<std::int64_t>::max(), 60 * kSecond),
            std::numeric_limits<std::int64_t>::max())
      << "as much as there is";
}

TEST(DurationHistories, KeepsCountAndMeanBySizeOfAllQueuesAndOfEach) {
  DurationHistories histories;
  EXPECT_TRUE(histories.list().empty());
  histories.add("b", 1, kHour);
  histories.add("a", 1, 3 * kHour);
  histories.add("a", 40, 7 * kHour);
  const std::vector<DurationHistory> list = histories.list();
  ASSERT_EQ(list.size(), 5U);
  EXPECT_EQ(list[0].queue, "");
  EXPECT_EQ(list[0].from, 1);
  EXPECT_EQ(list[0].to, 1);
  EXPECT_EQ(list[0].count, 2);
  EXPECT_EQ(list[0].mean, 2 * kHour);
  EXPECT_EQ(list[1].from, 33);
  EXPECT_EQ(list[1].to, 0);
  EXPECT_EQ(list[2].queue, "a");
  EXPECT_EQ(list[2].mean, 3 * kHour);
  EXPECT_EQ(list[4].queue, "b");
}

TEST(DurationHistories, SizesBorderOnEachOther) {
  DurationHistories histories;
  for (const std::int64_t gpus : {1, 2, 3, 4, 7, 8, 9, 16, 17, 32, 33, 5000}) histories.add("q", gpus, kHour);
  std::int64_t next = 1, count = 0;
  for (const DurationHistory& history : histories.list()) {
    if (!history.queue.empty()) continue;
    EXPECT_EQ(history.from, next);
    next = history.to + 1;
    count += history.count;
  }
  EXPECT_EQ(next, 1) << "the last one has no end";
  EXPECT_EQ(count, 12);
}

}  // namespace
}  // namespace muster
