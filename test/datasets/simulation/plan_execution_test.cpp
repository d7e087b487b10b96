// What a plan does to the jobs of a simulation.
#include "datasets/simulation/plan_execution.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/build/build_problem.h"
#include "model/problem/next_snapshot.h"
#include "test/datasets/simulation/jobs.h"

namespace muster::simulation {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

void carry_out(Jobs& jobs, const Plan& plan, bool moves_live = false) {
  const auto problem = build_problem(jobs.now);
  ASSERT_TRUE(problem) << problem.error().message;
  PlanExecution execution({jobs.now, *problem, jobs.table, jobs.runs, jobs.log}, plan, 50 * kSecond, moves_live);
  execution.depart();
  jobs.now = next_snapshot(std::move(jobs.now), *problem, plan, 0);
  execution.arrive();
}

Plan move_of(std::uint32_t pod, std::vector<std::int32_t> devices) {
  Plan plan;
  plan.evictions = {{PodIndex(pod), EvictionReason::kConsolidate, GangIndex(std::size_t{0})}};
  plan.placements = {{PodIndex(pod), NodeIndex(std::size_t{0}), std::move(devices), {}}};
  return plan;
}

TEST(PlanExecution, StartsAJobOnceItsMinimumRuns) {
  Jobs jobs("");
  Plan plan;
  plan.placements = {{PodIndex(std::size_t{0}), NodeIndex(std::size_t{0}), {0}, {}}};
  carry_out(jobs, plan);
  EXPECT_EQ(jobs.table.jobs()[0].first_start, 50 * kSecond) << "one of its two pods suffices";
  EXPECT_EQ(jobs.table.pending_pods(), 2);
  EXPECT_EQ(jobs.table.allocated(), 1'000);
  EXPECT_FALSE(jobs.table.jobs()[1].first_start);
}

TEST(PlanExecution, InterruptsAJobThatIsEvicted) {
  Jobs jobs(kRuns);
  jobs.runs.start(1, 0);
  Plan plan;
  plan.evictions = {{PodIndex(std::size_t{2}), EvictionReason::kPreempt, GangIndex(std::size_t{0})}};
  carry_out(jobs, plan);
  const SimulatedJob& evicted = jobs.table.jobs()[1];
  EXPECT_FALSE(evicted.state.running_since);
  EXPECT_EQ(evicted.disruptions.evicted_pods, 1);
  EXPECT_DOUBLE_EQ(gpu_seconds(evicted.disruptions.lost), 100);
  EXPECT_EQ(jobs.log.totals().departed.preempted, 1);
  EXPECT_EQ(jobs.table.allocated(), 2'000);
}

TEST(PlanExecution, AMoveInterruptsUnlessMovesAreLive) {
  for (const bool moves_live : {false, true}) {
    Jobs jobs(kRuns);
    jobs.runs.start(1, 0);
    carry_out(jobs, move_of(2, {2, 3}), moves_live);
    EXPECT_EQ(jobs.table.jobs()[1].disruptions.moved_pods, 1);
    EXPECT_EQ(jobs.table.jobs()[1].disruptions.interruptions, moves_live ? 0 : 1);
    EXPECT_EQ(jobs.table.jobs()[1].state.running_since, moves_live ? 0 : 50 * kSecond);
  }
}

TEST(PlanExecution, AJobThatKeepsItsMinimumRunsOn) {
  Jobs jobs(kRuns);
  jobs.runs.start(0, 0);
  Plan plan;
  plan.evictions = {{PodIndex(std::size_t{1}), EvictionReason::kReclaim, GangIndex(std::size_t{1})}};
  carry_out(jobs, plan);
  EXPECT_EQ(jobs.table.jobs()[0].state.running_since, 0);
  EXPECT_EQ(jobs.table.jobs()[0].disruptions.interruptions, 0);
}

}  // namespace
}  // namespace muster::simulation
