#include <string>

#include <gtest/gtest.h>

#include "heuristics/state/state_counts.h"
#include "model/base/tuning.h"
#include "test/support/case.h"

namespace muster {
namespace {

// `count` gangs of one pod with priorities 0, 1, ..., all in queue "leaf"; every third may not be preempted.
std::string cluster(int count) {
  std::string gangs, pods;
  for (int i = 0; i < count; ++i) {
    const std::string name = "g" + std::to_string(i);
    gangs += (i == 0 ? "" : ",") + (R"({"name":")" + name) + R"(","queue":"leaf","priority":)" + std::to_string(i) +
             (i % 3 == 0 ? R"(,"preemptible":false})" : "}");
    pods += R"({"name":"p)" + std::to_string(i) + R"(","gang":")" + name + R"(","resources":{"cpu":"1"}},)";
  }
  return R"("nodes":[{"name":"n","resources":{"cpu":"500"}}],"queues":[{"name":"top"},{"name":"leaf","parent":"top"}],)"
         R"("gangs":[)" +
         gangs + R"(],"pods":[)" + pods + R"({"name":"alone","queue":"top","priority":0,"resources":{"cpu":"7"}}])";
}

void change(QueueUsage& usage, const test::Case& problem, int gang, std::int32_t by) {
  usage.count(problem->gangs[problem.gang("g" + std::to_string(gang))], problem.class_of("p" + std::to_string(gang)),
              NodeIndex(std::size_t{0}), by);
}

TEST(QueueUsage, CountsAPodInItsQueueAndInThoseAbove) {
  const test::Case problem(cluster(2));
  QueueUsage usage(*problem);
  change(usage, problem, 0, 1);
  change(usage, problem, 1, 1);
  change(usage, problem, 1, 1);
  for (const char* queue : {"leaf", "top"}) {
    EXPECT_EQ(usage.usage()[problem.queue(queue)][kQueueCpu], 3'000);
    EXPECT_EQ(usage.non_preemptible_usage()[problem.queue(queue)][kQueueCpu], 1'000);
  }
  change(usage, problem, 0, -1);
  EXPECT_EQ(usage.usage()[problem.queue("top")][kQueueCpu], 2'000);
  EXPECT_EQ(usage.non_preemptible_usage()[problem.queue("top")][kQueueCpu], 0);
}

TEST(QueueUsage, IsExactByPriorityForAsManyPrioritiesAsBuckets) {
  constexpr int kGangs = static_cast<int>(kTuning.heuristics.priorities);
  const test::Case problem(cluster(kGangs));
  QueueUsage usage(*problem);
  for (int gang = 0; gang < kGangs; ++gang) change(usage, problem, gang, 1);
  for (int priority = 0; priority < kGangs; ++priority)
    EXPECT_EQ(usage.usage_from(problem.queue("top"), priority)[kQueueCpu], 1'000 * (kGangs - priority)) << priority;
}

TEST(QueueUsage, WithMorePrioritiesCountsAtLeastTheUsageFromAPriority) {
  constexpr int kGangs = 3 * static_cast<int>(kTuning.heuristics.priorities);
  const test::Case problem(cluster(kGangs));
  QueueUsage usage(*problem);
  for (int gang = 0; gang < kGangs; ++gang) change(usage, problem, gang, 1);
  for (int priority = 0; priority < kGangs; ++priority) {
    const Amount from = usage.usage_from(problem.queue("leaf"), priority)[kQueueCpu];
    EXPECT_GE(from, 1'000 * (kGangs - priority)) << priority;
    EXPECT_LE(from, 1'000 * (kGangs - priority + 3)) << priority;
  }
}

}  // namespace
}  // namespace muster
