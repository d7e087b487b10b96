// Nodes that are added, removed, cordoned, fail and are repaired.
#include "datasets/simulation/simulated_nodes.h"

#include <string_view>

#include <gtest/gtest.h>

namespace muster::simulation {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

SnapshotNode node(std::string_view name, std::int32_t gpus) {
  SnapshotNode one;
  one.name = name;
  one.gpu_count = gpus;
  return one;
}

NodeFailureOptions failing() {
  NodeFailureOptions options;
  options.mean_between = 100 * kSecond;
  options.mean_to_repair = 10 * kSecond;
  return options;
}

TEST(SimulatedNodes, AddUpTheCapacityOfThoseThatTakePods) {
  Snapshot snapshot;
  SimulatedNodes nodes(snapshot, {});
  nodes.add(node("a", 4), 0);
  nodes.add(node("b", 8), 0);
  EXPECT_EQ(nodes.capacity(), 12'000);
  nodes.set_cordoned(1, true);
  EXPECT_EQ(nodes.capacity(), 4'000);
  EXPECT_TRUE(snapshot.nodes[1].unschedulable);
  nodes.set_cordoned(1, false);
  EXPECT_EQ(nodes.capacity(), 12'000);
}

TEST(SimulatedNodes, AreGoneFromTheSnapshotOnceRemoved) {
  Snapshot snapshot;
  SimulatedNodes nodes(snapshot, {});
  nodes.add(node("a", 4), 0);
  nodes.add(node("b", 8), 0);
  nodes.remove(*nodes.find("a"));
  EXPECT_FALSE(nodes.find("a"));
  EXPECT_EQ(nodes.find("b"), 0U);
  EXPECT_EQ(nodes.capacity(), 8'000);
}

TEST(SimulatedNodes, DoNotFailWithoutAMeanTime) {
  Snapshot snapshot;
  SimulatedNodes nodes(snapshot, {});
  nodes.add(node("a", 4), 0);
  EXPECT_FALSE(nodes.next_change());
}

TEST(SimulatedNodes, FailAndAreRepairedInTurn) {
  Snapshot snapshot;
  SimulatedNodes nodes(snapshot, failing());
  nodes.add(node("a", 4), 0);
  const auto failed = nodes.change_next(*nodes.next_change());
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->event, NodeEvent::kFailed);
  EXPECT_TRUE(nodes.any_down());
  EXPECT_EQ(nodes.capacity(), 0);
  const auto repaired = nodes.change_next(*nodes.next_change());
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->event, NodeEvent::kRepaired);
  EXPECT_FALSE(nodes.any_down());
  EXPECT_EQ(nodes.capacity(), 4'000);
}

TEST(SimulatedNodes, ThatAreCordonedStaySoOnceRepaired) {
  Snapshot snapshot;
  SimulatedNodes nodes(snapshot, failing());
  nodes.add(node("a", 4), 0);
  nodes.set_cordoned(0, true);
  nodes.change_next(*nodes.next_change());
  nodes.change_next(*nodes.next_change());
  EXPECT_TRUE(snapshot.nodes[0].unschedulable);
}

TEST(SimulatedNodes, ThatWereRemovedDoNotChange) {
  Snapshot snapshot;
  SimulatedNodes nodes(snapshot, failing());
  nodes.add(node("a", 4), 0);
  nodes.remove(0);
  EXPECT_FALSE(nodes.change_next(*nodes.next_change()));
  EXPECT_FALSE(nodes.any_down());
}

}  // namespace
}  // namespace muster::simulation
