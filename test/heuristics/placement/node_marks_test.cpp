#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/placement/node_summaries.h"
#include "test/support/case.h"

namespace muster::placement {
namespace {

// Nodes a, b, c are equal; d is larger.
constexpr const char* kMarkedNodes = R"(
 "nodes":[{"name":"a","resources":{"cpu":"8"},"gpus":{"count":2}},{"name":"b","resources":{"cpu":"8"},"gpus":{"count":2}},
          {"name":"c","resources":{"cpu":"8"},"gpus":{"count":2}},{"name":"d","resources":{"cpu":"9"},"gpus":{"count":2}}],
 "pods":[{"name":"p","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},{"name":"q","resources":{"cpu":"1"}}])";

class MarksOfNodes : public testing::Test {
 protected:
  MarksOfNodes() {
    marks_.begin();
    marks_.group_equal_nodes();
  }
  void put(const char* pod, const char* node, DeviceList devices = {}) {
    state_.put(problem_.pod(pod), problem_.node(node), devices);
  }
  std::string follow() {
    std::string renewed;
    marks_.follow([&](NodeIndex node) { renewed += problem_.snapshot().nodes[node.value()].name; });
    return renewed;
  }
  std::vector<MarkedNode> groups() {
    std::vector<MarkedNode> all;
    marks_.for_each_group([&](const MarkedNode& node) { all.push_back(node); });
    return all;
  }

  test::Case problem_{kMarkedNodes};
  ClusterState state_{*problem_, ClusterState::Releasing::kFreed};
  ImmediateCapacity room_{state_};
  NodeMarks marks_{state_, room_};
};

TEST_F(MarksOfNodes, PutEqualNodesIntoOneGroup) {
  ASSERT_EQ(groups().size(), 2U);
  EXPECT_EQ(groups()[0].node, problem_.node("a"));
  EXPECT_EQ(marks_.group_of(groups()[0]).size(), 3U);
  EXPECT_EQ(groups()[1].node, problem_.node("d"));
}

TEST_F(MarksOfNodes, RenewANodeOnceForChangesInARow) {
  put("p", "a", {0});
  put("q", "a");
  state_.take(problem_.pod("q"));
  put("q", "d");
  EXPECT_EQ(follow(), "ad");
  EXPECT_EQ(follow(), "");
  EXPECT_EQ(marks_.last_change(problem_.node("a")), 3U);
  EXPECT_EQ(marks_.last_change(problem_.node("d")), 4U);
  EXPECT_EQ(marks_.last_change(problem_.node("b")), 0U);
}

TEST_F(MarksOfNodes, ReplaceAChangedNodeByTheNextOfItsGroup) {
  MarkedNode first = groups()[0];
  EXPECT_FALSE(marks_.is_stale(first));
  put("p", "a", {0});
  put("q", "b");
  follow();
  EXPECT_TRUE(marks_.is_stale(first));
  ASSERT_TRUE(marks_.advance(first));
  EXPECT_EQ(first.node, problem_.node("c"));
  EXPECT_FALSE(marks_.is_stale(first));
  state_.take(problem_.pod("q"));
  put("q", "c");
  follow();
  EXPECT_FALSE(marks_.advance(first));
}

TEST_F(MarksOfNodes, AreStaleOnceTheNodeHasChanged) {
  const MarkedNode before = marks_.marked(problem_.node("d"));
  EXPECT_FALSE(marks_.is_stale(before));
  put("q", "d");
  EXPECT_TRUE(marks_.is_stale(before));
  EXPECT_FALSE(marks_.is_stale(marks_.marked(problem_.node("d"))));
}

TEST_F(MarksOfNodes, NodesThatPodsDepartFromHaveGroupsOfTheirOwn) {
  const test::Case problem(R"("nodes":[{"name":"a","resources":{"cpu":"8"}},{"name":"b","resources":{"cpu":"8"}}],
    "pods":[{"name":"p","node":"b","status":"releasing"}])");
  const ClusterState state(*problem, ClusterState::Releasing::kFreed);
  const ImmediateCapacity room(state);
  NodeMarks marks(state, room);
  marks.begin();
  marks.group_equal_nodes();
  int groups = 0;
  marks.for_each_group([&](const MarkedNode&) { ++groups; });
  EXPECT_EQ(groups, 2);
}

TEST_F(MarksOfNodes, CellsHoldOneNodeOfEachGroupAndThoseThatChange) {
  NodeCells cells(state_, marks_, NodeCells::By::kIdleDevices);
  const auto nodes = [&] {
    std::size_t count = 0;
    for (const NodeCells::Cell& cell : cells.all()) count += cell.nodes.size();
    return count;
  };
  EXPECT_EQ(nodes(), 2U);
  put("p", "a", {0});
  follow();
  EXPECT_EQ(nodes(), 2U);
  cells.follow();
  EXPECT_EQ(nodes(), 3U);
  EXPECT_EQ(cells.all().back().idle, 1);
}

TEST_F(MarksOfNodes, CellsOfRoomHoldANodeForItsIdleDevicesAndForThoseInUse) {
  put("p", "a", {0});
  follow();
  NodeCells cells(state_, marks_, NodeCells::By::kRoom);
  int of_room = 0, of_idle = 0;
  for (const NodeCells::Cell& cell : cells.all()) {
    for (const MarkedNode& node : cell.nodes) {
      if (node.node != problem_.node("a")) continue;
      ++(cell.is_of_room ? of_room : of_idle);
    }
  }
  EXPECT_EQ(of_room, 1);
  EXPECT_EQ(of_idle, 1);
}

}  // namespace
}  // namespace muster::placement
