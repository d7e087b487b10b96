// When a plan is wanted.
#include "datasets/simulation/cycle_trigger.h"

#include <gtest/gtest.h>

namespace muster::simulation {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

SimulationOptions options_of(CycleRule rule) {
  SimulationOptions options;
  options.cycle = rule;
  options.period = 10 * kSecond;
  options.batch = 3;
  return options;
}

class CycleTriggerTest : public testing::Test {
 protected:
  CycleTrigger::Instant at(Nanoseconds now, bool pods_wait = true, bool all_arrived = false) const {
    return {now, pods_wait, all_arrived, snapshot_};
  }
  Snapshot snapshot_;
};

TEST_F(CycleTriggerTest, PeriodsCountFromTheStart) {
  const CycleTrigger trigger(options_of(CycleRule::kPeriod), 5 * kSecond);
  EXPECT_TRUE(trigger.is_cycle_at(at(5 * kSecond)));
  EXPECT_FALSE(trigger.is_cycle_at(at(10 * kSecond)));
  EXPECT_EQ(trigger.next_in_grid(at(7 * kSecond)), 15 * kSecond);
}

TEST_F(CycleTriggerTest, OneInstantHasOneCycle) {
  CycleTrigger trigger(options_of(CycleRule::kPeriod), 0);
  trigger.note_cycle(10 * kSecond);
  EXPECT_FALSE(trigger.is_cycle_at(at(10 * kSecond)));
  EXPECT_EQ(trigger.next_in_grid(at(10 * kSecond)), 20 * kSecond);
}

TEST_F(CycleTriggerTest, NoPlanIsWantedWhileNoPodWaitsOrNothingHasChanged) {
  CycleTrigger trigger(options_of(CycleRule::kPeriod), 0);
  EXPECT_FALSE(trigger.is_cycle_at(at(0, false)));
  trigger.note_plan(true);
  EXPECT_FALSE(trigger.is_cycle_at(at(10 * kSecond)));
  EXPECT_EQ(trigger.next_in_grid(at(10 * kSecond)), std::nullopt);
}

TEST_F(CycleTriggerTest, APlanThatChangesSomethingWantsAnotherOneAPeriodLater) {
  CycleTrigger trigger(options_of(CycleRule::kPeriod), 0);
  trigger.note_plan(false);
  EXPECT_TRUE(trigger.is_cycle_at(at(10 * kSecond)));
}

TEST_F(CycleTriggerTest, WithAgingTheClockAloneIsReasonEnough) {
  CycleTrigger trigger(options_of(CycleRule::kPeriod), 0);
  trigger.note_plan(true);
  snapshot_.policy.aging_interval = kSecond;
  EXPECT_TRUE(trigger.is_cycle_at(at(10 * kSecond)));
}

TEST_F(CycleTriggerTest, ABatchWaitsForItsPods) {
  CycleTrigger trigger(options_of(CycleRule::kBatch), 0);
  trigger.note_arrivals(2);
  EXPECT_FALSE(trigger.is_cycle_at(at(kSecond)));
  trigger.note_arrivals(1);
  EXPECT_TRUE(trigger.is_cycle_at(at(kSecond)));
}

TEST_F(CycleTriggerTest, AfterTheLastArrivalABatchNeedNotBeFull) {
  CycleTrigger trigger(options_of(CycleRule::kBatch), 0);
  trigger.note_arrivals(1);
  EXPECT_TRUE(trigger.is_cycle_at(at(kSecond, true, true)));
}

TEST_F(CycleTriggerTest, EachChangeWantsAPlan) {
  CycleTrigger trigger(options_of(CycleRule::kEach), 0);
  trigger.note_plan(false);
  EXPECT_FALSE(trigger.is_cycle_at(at(kSecond)));
  trigger.note_change();
  EXPECT_TRUE(trigger.is_cycle_at(at(kSecond)));
}

}  // namespace
}  // namespace muster::simulation
