#include "heuristics/placement/node_ranking.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::placement {
namespace {

constexpr const char* kRankedNodes = R"(
 "nodes":[{"name":"a","resources":{"cpu":"8"},"gpus":{"count":4}},{"name":"b","resources":{"cpu":"8"},"gpus":{"count":2}},
          {"name":"c","resources":{"cpu":"8"},"gpus":{"count":2}},{"name":"d","resources":{"cpu":"8"}}],
 "pods":[{"name":"p","resources":{"cpu":"1"},"gpu":{"count":2}},{"name":"q","resources":{"cpu":"1"},"gpu":{"count":1}},
         {"name":"r","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},{"name":"s","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},
         {"name":"old","resources":{"cpu":"1"},"gpu":{"count":2},"node":"b","status":"releasing"}])";

class RankingOfNodes : public testing::Test {
 protected:
  explicit RankingOfNodes(NodeRule rule = NodeRule::kBestFit) : scores_(state_, room_, summaries_, typical_, rule) {
    marks_.begin();
    summaries_.begin();
    marks_.group_equal_nodes();
  }
  void put(const char* pod, const char* node, DeviceList devices) {
    state_.put(problem_.pod(pod), problem_.node(node), devices);
    follow();
  }
  void follow() {
    marks_.follow([&](NodeIndex changed) { summaries_.renew(changed); });
  }
  NodeScore score(const char* pod, const char* node) const {
    const PodClass& pod_class = problem_.class_of(pod);
    return scores_.of(pod_class, requested_by(pod_class), problem_.node(node));
  }
  std::string name(NodeIndex node) const {
    return node.is_none() ? "none" : std::string(problem_.snapshot().nodes[node.value()].name);
  }

  test::Case problem_{kRankedNodes};
  ClusterState state_{*problem_, ClusterState::Releasing::kFreed};
  ImmediateCapacity room_{state_};
  TypicalRequest typical_{*problem_, Indexed<PodClassIndex, std::int64_t>(problem_->pod_classes.size(), 0)};
  NodeSummaries summaries_{state_, typical_};
  NodeScores scores_;
  NodeMarks marks_{state_, room_};
};

class RankingBySpread : public RankingOfNodes {
 protected:
  RankingBySpread() : RankingOfNodes(NodeRule::kSpread) {}
};

TEST_F(RankingOfNodes, ScoresFewerIdleDevicesLeftAsBetter) { EXPECT_LT(score("p", "c"), score("p", "a")); }

TEST_F(RankingOfNodes, ScoresImmediateRoomBeforeRoomThatADepartingPodHolds) {
  EXPECT_GT(score("p", "b"), score("p", "a"));
}

TEST_F(RankingOfNodes, ScoresADeviceInUseBeforeAnIdleOne) {
  put("r", "a", {0});
  EXPECT_LT(score("s", "a"), score("s", "c"));
}

TEST_F(RankingOfNodes, ScoresNodesThatLackCapacityAsNotFitting) {
  EXPECT_EQ(score("q", "d"), kNodeDoesNotFit);
  put("p", "c", {0, 1});
  EXPECT_EQ(score("q", "c"), kNodeDoesNotFit);
}

TEST_F(RankingBySpread, ScoresTheNodeWithTheLeastInUseAsBest) {
  EXPECT_EQ(score("q", "a"), score("q", "c"));
  put("p", "a", {0, 1});
  EXPECT_GT(score("q", "a"), score("q", "c"));
}

TEST_F(RankingOfNodes, BoundsOfCellsAreNoGreaterThanTheScoresOfTheirNodes) {
  put("r", "a", {1});
  for (const char* pod : {"p", "q", "s"}) {
    const PodClass& pod_class = problem_.class_of(pod);
    const NodeSummary requested = requested_by(pod_class);
    NodeCells cells(state_, marks_, shares_devices(pod_class) ? NodeCells::By::kRoom : NodeCells::By::kIdleDevices);
    for (const NodeCells::Cell& cell : cells.all()) {
      const NodeScore least = scores_.least(pod_class, requested, cell);
      if (!cell.is_of_room && shares_devices(pod_class)) continue;  // a node may be better in a cell of its devices
      for (const MarkedNode& node : cell.nodes) EXPECT_LE(least, scores_.of(pod_class, requested, node.node));
    }
  }
}

TEST_F(RankingOfNodes, FollowsTheStateToTheBestNode) {
  const PodClass& pod_class = problem_.class_of("p");
  NodeCells cells(state_, marks_, NodeCells::By::kIdleDevices);
  NodeRanking ranking(scores_, marks_, cells, pod_class);
  EXPECT_EQ(name(ranking.best()), "c");
  const auto before = state_.checkpoint();
  put("q", "c", {0});
  EXPECT_EQ(name(ranking.best()), "a");
  state_.rollback(before);
  follow();
  EXPECT_EQ(name(ranking.best()), "c");
}

TEST_F(RankingOfNodes, NamesNoNodeIfNoneFits) {
  const PodClass& pod_class = problem_.class_of("p");
  NodeCells cells(state_, marks_, NodeCells::By::kIdleDevices);
  NodeRanking ranking(scores_, marks_, cells, pod_class);
  put("p", "c", {0, 1});
  put("q", "b", {0});
  put("r", "a", {0});
  put("s", "a", {1});
  EXPECT_EQ(name(ranking.best()), "a");
  put("old", "a", {2, 3});
  EXPECT_EQ(name(ranking.best()), "none");
}

}  // namespace
}  // namespace muster::placement
