#include "heuristics/state/node_states.h"

#include <vector>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster {
namespace {

constexpr const char* kNodesInUse = R"(
 "nodes":[{"name":"a","resources":{"cpu":"8"},"gpus":{"count":2}},{"name":"b","resources":{"cpu":"4"}}],
 "pods":[{"name":"half","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},
         {"name":"whole","resources":{"cpu":"2"},"gpu":{"count":1}},
         {"name":"runs","node":"a","resources":{"cpu":"1"}},
         {"name":"huge","resources":{"cpu":"6"},"node":"b","status":"releasing"}])";

class StatesOfNodes : public testing::Test {
 protected:
  void change(const char* pod, const char* node, std::vector<std::int32_t> devices, std::int32_t by) {
    nodes_.count(problem_.class_of(pod), {problem_.node(node), sets_.set_of(devices)}, sets_, by);
  }
  Amount free_cpu(const char* node) const { return nodes_.free(problem_.node(node))[kCpu.value()]; }

  test::Case problem_{kNodesInUse, test::Oddities::kSettled};
  DeviceSets sets_;
  NodeStates nodes_{*problem_};
};

TEST_F(StatesOfNodes, BeginAsTheirCapacities) {
  EXPECT_EQ(free_cpu("a"), 8'000);
  EXPECT_EQ(nodes_.idle_devices(problem_.node("a")), 2);
  EXPECT_TRUE(nodes_.pods_on(problem_.node("a")).empty());
  EXPECT_TRUE(nodes_.free_devices(problem_.node("b")).empty());
}

TEST_F(StatesOfNodes, CountADeviceAsIdleOnlyIfNothingIsOnIt) {
  const NodeIndex a = problem_.node("a");
  change("half", "a", {0}, 1);
  EXPECT_EQ(nodes_.idle_devices(a), 1);
  change("half", "a", {0}, 1);
  EXPECT_EQ(nodes_.free_devices(a)[0], 0);
  EXPECT_EQ(nodes_.idle_devices(a), 1);
  change("half", "a", {0}, -1);
  EXPECT_EQ(nodes_.idle_devices(a), 1);
  change("half", "a", {0}, -1);
  EXPECT_EQ(nodes_.idle_devices(a), 2);
  EXPECT_EQ(free_cpu("a"), 8'000);
}

TEST_F(StatesOfNodes, FollowTheSumsOfWhatIsFree) {
  nodes_.begin_sums();
  EXPECT_EQ(nodes_.free_total()[kCpu.value()], 12'000);
  EXPECT_EQ(nodes_.free_devices_total(), 2'000'000);
  change("half", "a", {1}, 1);
  change("whole", "a", {0}, 1);
  EXPECT_EQ(nodes_.free_total()[kCpu.value()], 9'000);
  EXPECT_EQ(nodes_.free_devices_total(), 500'000);
}

TEST_F(StatesOfNodes, CountANodeThatHoldsMoreThanItsCapacityAsFull) {
  nodes_.fill(problem_.class_of("huge"), {problem_.node("b"), {}}, sets_, 1);
  nodes_.begin_sums();
  EXPECT_EQ(free_cpu("b"), -2'000);
  EXPECT_EQ(nodes_.free_total()[kCpu.value()], 8'000);
}

TEST_F(StatesOfNodes, KnowTheirPodsAndHowManyThatRunThereHaveDeparted) {
  const NodeIndex a = problem_.node("a");
  const PodIndex runs = problem_.pod("runs"), waits = problem_.pod("whole");
  EXPECT_EQ(nodes_.departed(a), 1);
  nodes_.add(runs, a);
  nodes_.add(waits, a);
  EXPECT_EQ(nodes_.departed(a), 0);
  nodes_.remove(runs, a);
  EXPECT_EQ(nodes_.departed(a), 1);
  EXPECT_EQ(std::vector(nodes_.pods_on(a).begin(), nodes_.pods_on(a).end()), std::vector{waits});
  nodes_.remove(waits, a);
  EXPECT_EQ(nodes_.departed(a), 1);
}

TEST_F(StatesOfNodes, HaveVersionsThatGrowWithEveryPodThatComesOrLeaves) {
  const NodeIndex a = problem_.node("a");
  nodes_.add(problem_.pod("whole"), a);
  nodes_.remove(problem_.pod("whole"), a);
  EXPECT_EQ(nodes_.version(a), 2U);
  EXPECT_EQ(nodes_.version(problem_.node("b")), 0U);
}

}  // namespace
}  // namespace muster
