#include "solver/budget/deadline.h"

#include <chrono>

#include <gtest/gtest.h>

namespace muster::cbc {
namespace {

using Clock = Deadline::Clock;
using std::chrono::hours;
using std::chrono::seconds;

TEST(Deadline, HasPassedOnceItsTimeIsThere) {
  EXPECT_TRUE(Deadline(Clock::now(), false).passed());
  EXPECT_EQ(Deadline(Clock::now() - seconds(1), false).left(), Clock::duration::zero());
  EXPECT_FALSE(Deadline(Clock::now() + hours(1), false).passed());
}

TEST(Deadline, LeavesAnHourAtMost) {
  EXPECT_EQ(Deadline(Clock::now() + hours(5), false).left(), hours(1));
  EXPECT_EQ(Deadline(Clock::now(), true).left(), hours(1));
}

TEST(Deadline, WithoutAClockItNeverPasses) { EXPECT_FALSE(Deadline(Clock::now() - hours(1), true).passed()); }

TEST(Deadline, WithoutAClockItPassesWithTheWork) {
  const Deadline deadline(Clock::now() - hours(1), WorkLimit(100));
  EXPECT_TRUE(deadline.is_deterministic());
  EXPECT_FALSE(deadline.passed());
  deadline.work().spend(100);
  EXPECT_TRUE(deadline.passed());
  EXPECT_FALSE(deadline.without_work().passed());
}

// 100 s are left, so that a quarter of them ends 25 s from now; the test itself takes less than a second of that.
TEST(Deadline, APartEndsAfterItsShareOfTheTime) {
  const Clock::time_point now = Clock::now();
  const Deadline deadline(now + seconds(100), false);
  for (const Clock::time_point end : {deadline.after(0.25), Clock::now() + deadline.part(0.25).left()}) {
    EXPECT_GT(end, now + seconds(24));
    EXPECT_LT(end, now + seconds(26));
  }
}

// Half of 100 units, whatever the clock says.
TEST(Deadline, APartEndsAfterItsShareOfTheWork) {
  const Deadline deadline(Clock::now(), WorkLimit(100));
  const Deadline part = deadline.part(0.5);
  EXPECT_TRUE(part.is_deterministic());
  deadline.work().spend(49);
  EXPECT_FALSE(part.passed());
  deadline.work().spend(1);
  EXPECT_TRUE(part.passed());
  EXPECT_FALSE(deadline.passed());
}

TEST(Deadline, CanBeEarlierBySomeTime) {
  const Deadline deadline(Clock::now() + seconds(100), false);
  EXPECT_TRUE(deadline.earlier_by(seconds(101)).passed());
  EXPECT_FALSE(deadline.earlier_by(seconds(50)).passed());
  const Deadline by_work = Deadline(Clock::now(), WorkLimit(1)).earlier_by(seconds(10));
  EXPECT_FALSE(by_work.passed()) << "the clock is not asked";
  by_work.work().spend(1);
  EXPECT_TRUE(by_work.passed());
}

}  // namespace
}  // namespace muster::cbc
