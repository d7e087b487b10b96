#include <gtest/gtest.h>

#include "heuristics/preemption/context.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

TEST(CapacityWatch, NoticesThatANodeHasMoreFree) {
  Planning all(kTwoRun);
  CapacityWatch watch(all.state);
  EXPECT_FALSE(watch.has_begun());
  EXPECT_TRUE(watch.has_grown()) << "the first call";
  EXPECT_FALSE(watch.has_grown());
  all.state.take(all.pod("low"));
  EXPECT_TRUE(watch.has_grown());
  EXPECT_FALSE(watch.has_grown()) << "nothing has changed since";
}

TEST(CapacityWatch, DoesNotCountWhatComesAndGoesInBetween) {
  Planning all(kTwoRun);
  CapacityWatch watch(all.state);
  watch.has_grown();
  const auto before = all.state.checkpoint();
  all.state.take(all.pod("low"));
  all.state.rollback(before);
  EXPECT_FALSE(watch.has_grown());
}

TEST(CapacityWatch, ComparesWithTheLastCallNotWithTheFirst) {
  Planning all(kTwoRun);
  CapacityWatch watch(all.state);
  watch.has_grown();
  all.state.take(all.pod("low"));
  watch.has_grown();
  all.state.put(all.pod("low"), all.node("a"), {0});
  EXPECT_FALSE(watch.has_grown());
  all.state.take(all.pod("low"));
  EXPECT_TRUE(watch.has_grown());
}

}  // namespace
}  // namespace muster::preemption
