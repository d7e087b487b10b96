#include <gtest/gtest.h>

#include "heuristics/preemption/context.h"

namespace muster::preemption {
namespace {

TEST(StopFlag, StaysRaisedOnceTheRequestSaysStop) {
  bool stops = false;
  const StopRequest request = [&] { return stops; };
  StopFlag flag(request);
  flag.ask();
  EXPECT_FALSE(flag.is_raised());
  stops = true;
  EXPECT_TRUE(flag.is_due());
  EXPECT_FALSE(flag.is_raised()) << "not asked yet";
  flag.ask();
  stops = false;
  EXPECT_TRUE(flag.is_raised());
  flag.lower();
  EXPECT_FALSE(flag.is_raised());
}

TEST(StopFlag, AsksAtEvery64thPosition) {
  int asked = 0;
  const StopRequest request = [&] { return ++asked > 1; };
  StopFlag flag(request);
  for (std::size_t i = 0; i < 127; ++i) flag.ask_at(i);
  EXPECT_FALSE(flag.is_raised());
  flag.ask_at(127);
  EXPECT_TRUE(flag.is_raised());
}

TEST(StopFlag, IsNeverRaisedWithoutARequest) {
  const StopRequest none;
  StopFlag flag(none);
  flag.ask();
  EXPECT_FALSE(flag.is_due());
}

}  // namespace
}  // namespace muster::preemption
