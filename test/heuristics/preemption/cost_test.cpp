#include <string>

#include <gtest/gtest.h>

#include "heuristics/preemption/victims.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

TEST(VictimCost, LossesOfOneLevelAddUpAndOfDifferentOnesTheHigherCounts) {
  VictimLoss loss;
  loss.add({3, 10});
  loss.add({3, 5});
  EXPECT_EQ(loss, (VictimLoss{3, 15}));
  loss.add({1, 99});
  EXPECT_EQ(loss, (VictimLoss{3, 15}));
  loss.add({7, 1});
  EXPECT_EQ(loss, (VictimLoss{7, 1}));
}

TEST(VictimCost, IsComparedByShareThenQuotaThenWorkThenEvictedThenMoved) {
  VictimCost none, moved, evicted, work, quota, share;
  moved.moved = 9;
  evicted.evicted = 8;
  work.work = {0, 7};
  quota.quota = {0, 6};
  share.share = {0, 5};
  EXPECT_LT(none, moved);
  EXPECT_LT(moved, evicted);
  EXPECT_LT(evicted, work);
  EXPECT_LT(work, quota);
  EXPECT_LT(quota, share);
}

// Two of four GPUs each; `x` runs three, so that one is beyond its share.
constexpr const char* kBeyond = R"(
 "nodes":[{"name":"n","gpus":{"count":4}}],
 "queues":[{"name":"x","gpu":{"quota":2}},{"name":"y","gpu":{"quota":2}}],
 "pods":[{"name":"a","queue":"x","node":"n","gpus":[0],"gpu":{"count":1}},
         {"name":"b","queue":"x","node":"n","gpus":[1],"gpu":{"count":1}},
         {"name":"c","queue":"x","node":"n","gpus":[2],"gpu":{"count":1}},
         {"name":"d","queue":"y","gpu":{"count":2}}])";

TEST(VictimCost, AQueueLosesOfItsShareOnlyWhatIsNotBeyondIt) {
  Planning all(kBeyond);
  all.claim_for("d", PreemptionMode::kReclaim);
  const QueueIndex x = all.problem.queue("x");
  const std::int32_t priority = all.problem->objective.priorities.back();
  QueueAmounts goes{};
  goes[kQueueGpu] = all.state.queues().usage()[x][kQueueGpu] / 3;
  EXPECT_EQ(loss_of_queue(all.context, x, priority, goes).share, VictimLoss{});
  goes[kQueueGpu] *= 2;
  EXPECT_EQ(loss_of_queue(all.context, x, priority, goes).share, (VictimLoss{priority, 250'000})) << "one of four GPUs";
}

TEST(VictimCost, CountsTheWorkOfRunningPods) {
  Planning all(kBeyond);
  all.claim_for("d", PreemptionMode::kReclaim);
  const PodIndex a = all.pod("a");
  const VictimCost cost = eviction_cost(all.context, all.claim, all.problem.gang("a"), {&a, 1});
  EXPECT_EQ(cost.work.amount, all.problem->pods[a].weighted_work);
  EXPECT_EQ(cost.evicted, all.problem->pods[a].weighted_work * all.problem->pods[a].run_seconds);
  EXPECT_EQ(cost.moved, 0);
  EXPECT_LT(cost.excess, 0) << "its queue is above its share";
}

}  // namespace
}  // namespace muster::preemption
