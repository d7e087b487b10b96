// Jobs start, are interrupted, end, lose pods, and are dropped.
#include "datasets/simulation/job_runs.h"

#include <gtest/gtest.h>

#include "model/build/build_problem.h"
#include "test/datasets/simulation/jobs.h"

namespace muster::simulation {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

TEST(JobRuns, EndAJobAfterItsDuration) {
  Jobs jobs(kRuns, 100 * kSecond);
  jobs.runs.start(0, 10 * kSecond);
  EXPECT_EQ(jobs.runs.next_end(), 110 * kSecond);
  EXPECT_TRUE(jobs.runs.finish_next(110 * kSecond));
  EXPECT_EQ(jobs.table.jobs()[0].finished, 110 * kSecond);
  EXPECT_FALSE(jobs.runs.any_will_end());
}

TEST(JobRuns, StartAgainFromTheBeginningOnceInterrupted) {
  Jobs jobs(kRuns, 100 * kSecond);
  jobs.runs.start(0, 0);
  jobs.runs.interrupt(0, 2'000, 60 * kSecond);
  jobs.runs.start(0, 70 * kSecond);
  EXPECT_FALSE(jobs.runs.finish_next(100 * kSecond)) << "that end is no longer valid";
  EXPECT_EQ(jobs.runs.next_end(), 170 * kSecond);
  EXPECT_DOUBLE_EQ(gpu_seconds(jobs.table.jobs()[0].disruptions.lost), 120);
}

TEST(JobRuns, ResumeWhereTheyWereIfTheyCan) {
  Jobs jobs(kRuns, 100 * kSecond, true);
  jobs.runs.start(0, 0);
  jobs.runs.interrupt(0, 2'000, 60 * kSecond);
  jobs.runs.start(0, 70 * kSecond);
  EXPECT_FALSE(jobs.runs.finish_next(100 * kSecond));
  EXPECT_EQ(jobs.runs.next_end(), 110 * kSecond);
  EXPECT_EQ(jobs.table.jobs()[0].disruptions.lost, 0);
}

TEST(JobRuns, AreInterruptedByANodeThatFails) {
  Jobs jobs(kRuns, 100 * kSecond);
  const auto problem = build_problem(jobs.now);
  ASSERT_TRUE(problem) << problem.error().message;
  jobs.runs.start(0, 0);
  jobs.runs.lose_pods_on("n", *problem, 5 * kSecond);
  EXPECT_FALSE(jobs.table.jobs()[0].state.running_since);
  EXPECT_EQ(jobs.table.jobs()[0].disruptions.evicted_pods, 2);
  EXPECT_EQ(jobs.log.totals().departed.failed, 3) << "the single pod, too";
}

TEST(JobRuns, DropNewJobsOfWhichNoPodRuns) {
  Jobs waiting(""), running(kRuns);
  waiting.runs.drop_unplaced(9);
  EXPECT_TRUE(waiting.table.jobs()[0].is_dropped);
  EXPECT_EQ(waiting.table.pending_pods(), 0);
  running.runs.drop_unplaced(9);
  EXPECT_FALSE(running.table.jobs()[0].is_dropped);
}

}  // namespace
}  // namespace muster::simulation
