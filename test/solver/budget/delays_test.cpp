#include <cmath>

#include <gtest/gtest.h>

#include "solver/budget/deadline.h"

namespace muster {
namespace {

Delays after_first_line() {
  Delays delays;
  delays.learn(1000);
  return delays;
}

TEST(Delays, BeginsWithAGuessThatPunctualLinesReplace) {
  Delays delays = after_first_line();
  EXPECT_GT(delays.kept_ms(1000), 0);
  for (std::size_t line = 0; line < kTuning.forecast.lines; ++line) delays.learn(-200);
  EXPECT_EQ(delays.kept_ms(1000), 0);
}

TEST(Delays, KeepsTheLongestUntilItIsOld) {
  Delays delays = after_first_line();
  delays.learn(8);
  for (std::size_t line = 1; line < kTuning.forecast.lines; ++line) delays.learn(3);
  EXPECT_EQ(delays.kept_ms(1000), 8);
  delays.learn(3);  // in its place
  EXPECT_EQ(delays.kept_ms(1000), 3 * kTuning.forecast.margin);
}

TEST(Delays, BelievesInALongDelayWhenItComesAgain) {
  Delays delays = after_first_line();
  delays.learn(300);
  EXPECT_EQ(delays.kept_ms(1000), 100);
  delays.learn(250);
  EXPECT_EQ(delays.kept_ms(1000), 250 * kTuning.forecast.margin);
}

TEST(Delays, LeavesSomeOfTheBudget) {
  Delays delays = after_first_line();
  for (int line = 0; line < 5; ++line) delays.learn(5000);
  EXPECT_LT(delays.kept_ms(1000), 1000);
}

// Delays of 0 to 10 ms in a fixed, scattered order, more of them short: few lines are later than what is kept for them.
TEST(Delays, LeavesFewLinesLate) {
  Delays delays = after_first_line();
  int late = 0;
  constexpr int kLines = 5000;
  for (unsigned line = 0; line < kLines; ++line) {
    const double drawn = static_cast<double>(line * 2654435761U % 1000003U) / 1000003;
    const double delay = 10 * drawn * drawn * drawn;
    if (delay > delays.kept_ms(1000)) ++late;
    delays.learn(delay);
  }
  EXPECT_LE(late, kLines / 50);
}

// The processor is ours for 20 ms of each 100: a line that is not ready within these waits for the next ones.
TEST(Delays, FindsAnEndBeforeTheProcessorIsTakenAway) {
  Delays delays = after_first_line();
  int late = 0;
  constexpr int kLines = 1000;
  for (int line = 0; line < kLines; ++line) {
    const double budget = 200, planned = budget - delays.kept_ms(budget);
    const double slot = std::floor(planned / 100) * 100;
    const double end = planned - slot < 20 ? planned + 1 : slot + 101;
    if (end > budget) ++late;
    delays.learn(end - planned);
  }
  EXPECT_LE(late, kLines / 20);
}

TEST(DelaysBySize, AClusterThatIsTooLargeTakesNoTimeFromAnother) {
  DelaysBySize delays;
  for (int line = 0; line < 5; ++line) delays.of(1'000'000).learn(2000);
  EXPECT_GT(delays.of(900'000).kept_ms(1000), 500);  // about as large
  EXPECT_LT(delays.of(500).kept_ms(1000), 10);
}

}  // namespace
}  // namespace muster
