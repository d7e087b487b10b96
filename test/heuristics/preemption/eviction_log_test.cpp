#include <gtest/gtest.h>

#include "heuristics/preemption/eviction_ledger.h"

namespace muster::preemption {
namespace {

PlannedEviction eviction(std::size_t pod, std::size_t claimant) {
  return {PodIndex(pod), EvictionReason::kReclaim, GangIndex(claimant)};
}

TEST(EvictionLog, KeepsTheLastReasonOfEachPod) {
  EvictionLog log(3);
  log.set(eviction(2, 0));
  log.set(eviction(1, 0));
  log.set(eviction(2, 7));
  ASSERT_EQ(log.entries().size(), 2U);
  EXPECT_EQ(log.entries()[0].for_gang, GangIndex(7));
  EXPECT_TRUE(log.contains(PodIndex(1)));
  EXPECT_FALSE(log.contains(PodIndex(0)));
}

TEST(EvictionLog, RollsBackWhatWasOverwritten) {
  EvictionLog log(3);
  log.set(eviction(2, 0));
  const auto before = log.checkpoint();
  log.set(eviction(2, 7));
  log.set(eviction(0, 7));
  log.set(eviction(2, 8));
  EXPECT_EQ(log.since(before), (std::vector{PodIndex(0), PodIndex(2)}));
  log.rollback(before);
  ASSERT_EQ(log.entries().size(), 1U);
  EXPECT_EQ(log.entries()[0].for_gang, GangIndex(0));
  EXPECT_FALSE(log.contains(PodIndex(0)));
  EXPECT_TRUE(log.since(before).empty());
}

}  // namespace
}  // namespace muster::preemption
