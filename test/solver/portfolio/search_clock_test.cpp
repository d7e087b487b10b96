#include "solver/portfolio/search_clock.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace muster::portfolio {
namespace {

using std::chrono::milliseconds;

TEST(SearchClock, StopsNothingBeforeItsEndAndLeavesTimeForAnother) {
  SearchClock clock(SearchClock::Clock::now() + std::chrono::minutes(1));
  EXPECT_TRUE(clock.has_time());
  for (int search = 0; search < 2; ++search) {
    const StopRequest stop = clock.next();
    EXPECT_FALSE(stop());
    EXPECT_FALSE(clock.has_stopped());
    EXPECT_TRUE(clock.has_time());
  }
}

TEST(SearchClock, StopsASearchEarlierByTheTimeThatItTookToBegin) {
  SearchClock clock(SearchClock::Clock::now() + std::chrono::seconds(10));
  const StopRequest stop = clock.next();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(stop()) << "it has begun";
  EXPECT_FALSE(clock.has_stopped());

  SearchClock late(SearchClock::Clock::now() + milliseconds(30));
  const StopRequest soon = late.next();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(soon()) << "ten milliseconds are left, and it would take twenty to end";
  EXPECT_TRUE(late.has_stopped());
  EXPECT_FALSE(late.has_time());
}

TEST(SearchClock, HasNoTimeForASearchThatCouldNotEnd) {
  const SearchClock passed(SearchClock::Clock::now() - milliseconds(1));
  EXPECT_FALSE(passed.has_time());
  EXPECT_FALSE(passed.has_stopped());
}

}  // namespace
}  // namespace muster::portfolio
