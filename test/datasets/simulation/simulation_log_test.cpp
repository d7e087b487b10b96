// Where records go, and the sums over them.
#include "datasets/simulation/simulation_log.h"

#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace muster::simulation {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

CycleRecord cycle_at(Nanoseconds time, Work allocated) {
  CycleRecord record;
  record.time = time;
  record.capacity = 4'000;
  record.allocated = allocated;
  record.queues = {{"q", 2'000, allocated}};
  return record;
}

TEST(SimulationLog, NumbersTheCycles) {
  std::vector<std::int64_t> numbers;
  SimulationLog log([&](const SimulationRecord& record) { numbers.push_back(std::get<CycleRecord>(record).number); },
                    0);
  log.tell_cycle(cycle_at(0, 0));
  log.tell_cycle(cycle_at(kSecond, 0));
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(log.totals().cycles, 2);
}

TEST(SimulationLog, AddsUpCapacityAndAllocationAlsoUpToTheLastArrival) {
  SimulationLog log({}, 10 * kSecond);
  log.pass_time(0, 10 * kSecond, 4'000, 1'000);
  log.pass_time(10 * kSecond, 30 * kSecond, 4'000, 4'000);
  EXPECT_DOUBLE_EQ(gpu_seconds(log.totals().capacity), 120);
  EXPECT_DOUBLE_EQ(gpu_seconds(log.totals().allocated), 90);
  EXPECT_DOUBLE_EQ(gpu_seconds(log.totals().capacity_arriving), 40);
  EXPECT_DOUBLE_EQ(gpu_seconds(log.totals().allocated_arriving), 10);
}

TEST(SimulationLog, SamplesEachClusterUntilTheNextPlan) {
  SimulationLog log({}, 0);
  log.tell_cycle(cycle_at(0, 1'000));
  log.tell_cycle(cycle_at(10 * kSecond, 2'000));
  log.end_sample(15 * kSecond);
  EXPECT_EQ(log.totals().samples.time, 15 * kSecond);
  EXPECT_DOUBLE_EQ(gpu_seconds(log.totals().samples.shortfall), 10);
}

TEST(SimulationLog, CountsDeparturesByTheirCause) {
  SimulationLog log({}, 0);
  log.count_departures(EvictionReason::kPreempt, 2);
  log.count_departures(EvictionReason::kConsolidate, 3);
  log.count_failed(4);
  EXPECT_EQ(log.totals().departed.preempted, 2);
  EXPECT_EQ(log.totals().departed.moved, 3);
  EXPECT_EQ(log.totals().departed.failed, 4);
}

}  // namespace
}  // namespace muster::simulation
