// The jobs of a simulation and their pods in the snapshot.
#include "datasets/simulation/job_table.h"

#include <vector>

#include <gtest/gtest.h>

#include "test/datasets/simulation/jobs.h"

namespace muster::simulation {
namespace {

TEST(JobTable, KeepsThePodsOfAJobTogether) {
  const Jobs jobs("");
  ASSERT_EQ(jobs.table.jobs().size(), 2U);
  EXPECT_EQ(jobs.table.jobs()[0].name, "g");
  EXPECT_EQ(jobs.table.jobs()[0].queue, "q");
  EXPECT_EQ(jobs.table.jobs()[1].state.first_pod, 2U);
  EXPECT_EQ(jobs.table.jobs()[1].gpu_work, 2'000);
  EXPECT_EQ(jobs.table.job_of_pods(), (std::vector<SimulatedJobIndex>{0, 0, 1}));
}

TEST(JobTable, GivesWhatIsSubmittedItsAge) {
  const Jobs jobs("");
  EXPECT_EQ(jobs.now.gangs[0].terms.created, 7);
  EXPECT_EQ(jobs.now.pods[0].created, 7);
}

TEST(JobTable, AddsUpWhatRunsAndWhatIsPending) {
  EXPECT_EQ(Jobs("").table.pending_pods(), 3);
  EXPECT_EQ(Jobs("").table.allocated(), 0);
  EXPECT_EQ(Jobs(kRuns).table.pending_pods(), 0);
  EXPECT_EQ(Jobs(kRuns).table.allocated(), 4'000);
}

TEST(JobTable, RemovesJobsThatHaveLeftWithTheirPods) {
  Jobs jobs(kRuns);
  jobs.table.finish(0, 9);
  EXPECT_EQ(jobs.table.allocated(), 2'000);
  jobs.table.compact();
  EXPECT_TRUE(jobs.now.gangs.empty());
  ASSERT_EQ(jobs.now.pods.size(), 1U);
  EXPECT_EQ(jobs.now.pods[0].name, "s");
  EXPECT_EQ(jobs.table.jobs()[1].state.first_pod, 0U);
}

TEST(JobTable, MakesThePodsOfAFailedNodePendingAgain) {
  Jobs jobs(kRuns);
  EXPECT_EQ(jobs.table.lose_pods_on(0, "n", 9).size(), 2U);
  EXPECT_EQ(jobs.table.pending_pods(), 2);
  EXPECT_EQ(jobs.table.allocated(), 2'000);
  EXPECT_TRUE(jobs.table.lose_pods_on(1, "elsewhere", 9).empty());
}

}  // namespace
}  // namespace muster::simulation
