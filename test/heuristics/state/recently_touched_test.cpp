#include "heuristics/state/recently_touched.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

constexpr const char* kTouchedNodes = R"(
 "nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":1}}],
 "pods":[{"name":"on-a","gpu":{"count":1},"node":"a"},{"name":"on-b","gpu":{"count":1},"node":"b"},
         {"name":"on-c","gpu":{"count":1},"node":"c"}])";

class NodesTouched : public testing::Test {
 protected:
  void take(const char* pod) { state_.take(problem_.pod(pod)); }
  std::string since(std::size_t touches) {
    std::string names;
    recent_.read(state_);
    recent_.any_since(touches, [&](NodeIndex node) {
      names += problem_.snapshot().nodes[node.value()].name;
      return false;
    });
    return names;
  }

  test::Case problem_{kTouchedNodes};
  ClusterState state_{*problem_, ClusterState::Releasing::kFreed};
  RecentlyTouched recent_{problem_->nodes.size()};
};

TEST_F(NodesTouched, AreToldOnceAndTheLatestFirst) {
  const std::size_t start = state_.changes().touched().size();
  const auto before = state_.checkpoint();
  take("on-a");
  take("on-b");
  take("on-c");
  EXPECT_EQ(since(start), "cba");
  state_.rollback(before);
  EXPECT_EQ(since(start), "abc");
}

TEST_F(NodesTouched, AreNotToldBeforeTheTimeAskedFor) {
  take("on-a");
  take("on-b");
  const std::size_t then = state_.changes().touched().size();
  EXPECT_EQ(since(then), "");
  take("on-c");
  EXPECT_EQ(since(then), "c");
  EXPECT_EQ(since(then - 1), "cb");
}

TEST_F(NodesTouched, AreNotGoneThroughAnyFurtherThanWanted) {
  take("on-a");
  take("on-b");
  recent_.read(state_);
  int visited = 0;
  EXPECT_TRUE(recent_.any_since(0, [&](NodeIndex) { return ++visited == 1; }));
  EXPECT_EQ(visited, 1);
}

}  // namespace
}  // namespace muster
