#include "heuristics/placement/node_summaries.h"

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::placement {
namespace {

constexpr const char* kSummarisedNodes = R"(
 "nodes":[{"name":"a","resources":{"cpu":"8","memory":"8Gi"},"gpus":{"count":4}},{"name":"b","resources":{"cpu":"8"}}],
 "pods":[{"name":"half","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},
         {"name":"two","resources":{"cpu":"6"},"gpu":{"count":2}},
         {"name":"none","resources":{"cpu":"9"}}])";

class SummariesOfNodes : public testing::Test {
 protected:
  Indexed<PodClassIndex, std::int64_t> pending(std::int64_t of_each) const {
    return Indexed<PodClassIndex, std::int64_t>(problem_->pod_classes.size(), of_each);
  }
  NodeSummary requested(const char* pod) const { return requested_by(problem_.class_of(pod)); }

  test::Case problem_{kSummarisedNodes};
  ClusterState state_{*problem_, ClusterState::Releasing::kFreed};
  TypicalRequest typical_{*problem_, pending(0)};
  NodeSummaries summaries_{state_, typical_};
};

TEST_F(SummariesOfNodes, AreShortOfWhatTheNodesLack) {
  summaries_.begin();
  const NodeSummary &a = summaries_[problem_.node("a")], &b = summaries_[problem_.node("b")];
  EXPECT_FALSE(is_short(a, requested("two")));
  EXPECT_FALSE(is_short(a, requested("half")));
  EXPECT_TRUE(is_short(b, requested("two")));  // no devices
  EXPECT_TRUE(is_short(b, requested("half")));
  EXPECT_TRUE(is_short(a, requested("none")));  // too little cpu
}

TEST_F(SummariesOfNodes, ChangeWhenTheyAreRenewed) {
  const NodeIndex a = problem_.node("a");
  summaries_.begin();
  const NodeSummary before = summaries_[a];
  state_.put(problem_.pod("two"), a, {0, 1});
  EXPECT_TRUE(has_equal_room(summaries_[a], before));
  summaries_.renew(a);
  EXPECT_FALSE(has_equal_room(summaries_[a], before));
  EXPECT_EQ(summaries_[a].idle, 2);
  EXPECT_EQ(summaries_[a].cpu, 2'000);
}

TEST_F(SummariesOfNodes, HoldTheShareOfTheDeviceWithTheMostRoom) {
  const NodeIndex a = problem_.node("a");
  state_.put(problem_.pod("half"), a, {0});
  summaries_.begin();
  EXPECT_EQ(summaries_[a].share, 1'000'000);
  EXPECT_EQ(summaries_[a].idle, 3);
}

// The pods that wait for GPUs request 7 cores for 3 GPUs (half a GPU counts as a whole one's least part).
TEST_F(SummariesOfNodes, CountGpusThatHaveNoCpuLeftForATypicalPod) {
  const TypicalRequest typical(*problem_, pending(1));
  EXPECT_EQ(typical.stranded(4, 0), 4'000);
  EXPECT_EQ(typical.stranded(0, 0), 0);
  EXPECT_EQ(typical.stranded(1, 100'000), 0);
  EXPECT_GT(typical.stranded(4, 1'000), typical.stranded(4, 2'000));
}

TEST_F(SummariesOfNodes, CountNoGpuAsStrandedIfNoPodWaitsForGpus) { EXPECT_EQ(typical_.stranded(4, 0), 0); }

TEST_F(SummariesOfNodes, HoldTheRoomOnAllDevicesTogether) {
  state_.put(problem_.pod("half"), problem_.node("a"), {0});
  summaries_.begin();
  EXPECT_EQ(summaries_[problem_.node("a")].room, 3'500);
  EXPECT_EQ(summaries_[problem_.node("b")].room, 0);
}

// The pods that wait for GPUs request 7 cores and 4 GiB for what is 2.5 GPUs, counted as 2.
TEST_F(SummariesOfNodes, CountRoomOnDevicesThatLacksCpuOrMemoryForTypicalPods) {
  const test::Case cluster(R"("nodes":[{"name":"a","gpus":{"count":4}}],"pods":[
      {"name":"half","resources":{"cpu":"1","memory":"2Gi"},"gpu":{"fraction":0.5}},
      {"name":"two","resources":{"cpu":"6","memory":"2Gi"},"gpu":{"count":2}}])");
  Indexed<PodClassIndex, std::int64_t> each(cluster->pod_classes.size(), 0);
  for (const Pod& pod : cluster->pods) each[pod.pod_class] = 1;
  const TypicalRequest typical(*cluster, each);
  constexpr Amount kGibibyte = 1 << 30;
  EXPECT_EQ(typical.lacking(2'000, 7'000, 4 * kGibibyte), 0);
  EXPECT_EQ(typical.lacking(2'000, 3'500, 4 * kGibibyte), 1'000);
  EXPECT_EQ(typical.lacking(2'000, 7'000, 1 * kGibibyte), 1'500);
  EXPECT_EQ(typical_.lacking(2'000, 0, 0), 0);
}

}  // namespace
}  // namespace muster::placement
