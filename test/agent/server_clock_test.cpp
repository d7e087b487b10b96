#include <gtest/gtest.h>

#include "cli/agent/server_time.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServerClock::Steady kStart{seconds(1'000)};
constexpr Nanoseconds kInstant = 784'111'777 * kNanosecondsPerSecond;  // of the date below

TEST(ServerClock, GoesOnFromTheLastDate) {
  ServerClock clock;
  EXPECT_FALSE(clock.now(kStart));
  clock.learn("Sun, 06 Nov 1994 08:49:37 GMT", kStart);
  EXPECT_EQ(clock.now(kStart), kInstant);
  EXPECT_EQ(clock.now(kStart + milliseconds(1'500)), kInstant + 1'500'000'000);
}

TEST(ServerClock, NeverGoesBack) {
  ServerClock clock;
  clock.learn("Sun, 06 Nov 1994 08:49:37 GMT", kStart);
  clock.learn("Sun, 06 Nov 1994 08:49:37 GMT", kStart + milliseconds(900));
  EXPECT_EQ(clock.now(kStart + milliseconds(900)), kInstant + 900'000'000) << "the date is cut to seconds";
  clock.learn("Sun, 06 Nov 1994 08:49:39 GMT", kStart + seconds(1));
  EXPECT_EQ(clock.now(kStart + seconds(1)), kInstant + 2'000'000'000);
}

TEST(ServerClock, PassesOverWhatIsNoDate) {
  ServerClock clock;
  for (const char* text : {"", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT+1"})
    clock.learn(text, kStart);
  EXPECT_FALSE(clock.now(kStart));
}

TEST(ServerClock, InstantsAreWrittenAsEventsHaveThem) {
  EXPECT_EQ(rfc3339(kInstant + 1'234'567), "1994-11-06T08:49:37.001234Z");
}

}  // namespace
}  // namespace muster::cli
