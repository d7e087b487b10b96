#include "solver/budget/forecast.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "model/base/tuning.h"

namespace muster {
namespace {

constexpr std::int64_t kLooks = 100'000;

// A search returns at the time of the forecast, the checks take 20 ms, and the reasons all that is then left of the
// second.
TEST(EndForecast, LeavesTimeToSearchThoughReasonsTakeAllThatTheyGet) {
  constexpr double kWhole = 1'000, kChecks = 20;
  EndForecast forecast;
  for (int line = 0; line < 50; ++line) {
    const double end = std::min(kWhole, forecast.of(kLooks, kWhole));
    forecast.learn_coming_back(kTuning.forecast.answer_ms);
    forecast.learn(kLooks, kChecks, end - kChecks);
  }
  EXPECT_LT(forecast.of(kLooks, kWhole), 0.15 * kWhole);
  EXPECT_GE(forecast.of(kLooks, kWhole), kChecks);
}

TEST(EndForecast, GrowsImmediatelyWithTheWorkAndFallsByHalves) {
  EndForecast forecast;
  const double first = forecast.of(kLooks, 10'000);
  forecast.learn(kLooks, 400, 0);
  const double high = forecast.of(kLooks, 10'000);
  EXPECT_GT(high, 400);
  EXPECT_GT(high, first);
  forecast.learn(kLooks, 0, 0);
  EXPECT_GT(forecast.of(kLooks, 10'000), 0.4 * high);
  EXPECT_LT(forecast.of(kLooks, 10'000), 0.6 * high);
}

TEST(EndForecast, KeepsTimeForReasonsWhereTheyTakeLittle) {
  EndForecast forecast;
  for (int line = 0; line < 20; ++line) forecast.learn(kLooks, 0, 30);
  EXPECT_GE(forecast.of(kLooks, 1'000), 30);
  EXPECT_LT(forecast.of(kLooks, 100), 30);  // of so little time they get a part only
}

TEST(EndForecast, TakesTheFirstReturnForALongOneButOfLittleTimeForAPart) {
  EndForecast forecast;
  EXPECT_DOUBLE_EQ(forecast.coming_back(10'000), kTuning.forecast.start_ms);
  EXPECT_DOUBLE_EQ(forecast.coming_back(50), kTuning.parts.aside * 50);
  EXPECT_DOUBLE_EQ(forecast.coming_back(1), kTuning.forecast.answer_ms);
  for (int line = 0; line < 20; ++line) forecast.learn_coming_back(0);
  EXPECT_DOUBLE_EQ(forecast.coming_back(10'000), kTuning.forecast.answer_ms);
}

TEST(EndForecast, LearnsNothingOfSmallLines) {
  EndForecast forecast;
  const double first = forecast.of(kLooks, 1'000);
  forecast.learn(10, 900, 900);
  EXPECT_DOUBLE_EQ(forecast.of(kLooks, 1'000), first);
}

TEST(WritingForecast, LearnsOfLongLinesButNotOfTheReasonsInThem) {
  WritingForecast forecast;
  const double first = forecast.of(kLooks);
  forecast.learn(10, 0, 5);
  EXPECT_DOUBLE_EQ(forecast.of(kLooks), first);
  for (int line = 0; line < 10; ++line) forecast.learn(kLooks, kLooks / 10, 10 + time_to_write_reasons(kLooks / 10));
  EXPECT_LT(forecast.of(kLooks), 21);
  EXPECT_GT(forecast.of(kLooks), 10);
  forecast.learn(kLooks, 0, 100);
  EXPECT_GT(forecast.of(kLooks), 100);
}

TEST(EngineForecast, BeginsWithTheTunedRatesAndLearnsEachKindByItself) {
  EngineForecast forecast;
  EXPECT_DOUBLE_EQ(forecast.first_plan(kLooks, false), 500);
  EXPECT_DOUBLE_EQ(forecast.first_plan(kLooks, true), 500);
  EXPECT_DOUBLE_EQ(forecast.greedy_start(kLooks, true), 1'000);
  forecast.learn_first_plan(kLooks, true, 3'000);
  forecast.learn_greedy_start(kLooks, true, 5'000);
  EXPECT_DOUBLE_EQ(forecast.first_plan(kLooks, true), 3'000);
  EXPECT_DOUBLE_EQ(forecast.first_plan(kLooks, false), 500);
  EXPECT_DOUBLE_EQ(forecast.greedy_start(kLooks, true), 5'000);
  EXPECT_DOUBLE_EQ(forecast.greedy_start(kLooks, false), 1'000);
}

// One slow cycle must not shut the engine out for good.
TEST(EngineForecast, ForgetsTheTimeOfAnEngineThatIsLeftOut) {
  EngineForecast forecast;
  forecast.learn_first_plan(kLooks, false, 16'500);
  int cycles = 0;
  for (; forecast.first_plan(kLooks, false) > 1'000; ++cycles) forecast.note_left_out(false);
  EXPECT_EQ(cycles, 5);
}

// What was left out once is tried again, but not at once.
TEST(EngineForecast, LeavesChoosingOutAfterItHasFoundNothingInTime) {
  EngineForecast forecast;
  constexpr std::int64_t kKinds = 1'000;
  EXPECT_DOUBLE_EQ(forecast.choice(kKinds), 2'000);
  forecast.learn_choice(kKinds, 1'900, true);
  EXPECT_DOUBLE_EQ(forecast.choice(kKinds), 1'950);
  forecast.learn_choice(kKinds, 1'900, false);
  EXPECT_DOUBLE_EQ(forecast.choice(kKinds), 3'800);
  forecast.note_choice_left_out();
  EXPECT_DOUBLE_EQ(forecast.choice(kKinds), 2'900);
}

}  // namespace
}  // namespace muster
