#include "solver/slots/slots.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/master_case.h"
#include "test/solver/slots/places.h"
#include "test/support/paths.h"

namespace muster::slots {
namespace {

using test::Cluster;
using test::nodes_with;
using test::Places;
using test::runs_on;

std::string gpus(int count) { return R"("gpu":{"count":)" + std::to_string(count) + "}"; }
std::string fraction(const std::string& part) { return R"("gpu":{"fraction":)" + part + "}"; }

// Three nodes of eight, of which each runs a pod, and a pod of a whole node.
Cluster three_nodes() {
  return nodes_with({{"a", 8}, {"b", 8}, {"c", 8}})
      .pod("ra", runs_on("a", "0,1,2", gpus(3)))
      .pod("rb", runs_on("b", "0,1", gpus(2)))
      .pod("rc", runs_on("c", "0,1,2,3", gpus(4)))
      .pods("n", 1, 8);
}

// Both ways to find places, and what both have to find.
class SlotsBothWays : public testing::TestWithParam<bool> {
 protected:
  SlotResult find(const Places& places) {
    SlotResult result = places.find(GetParam() ? &backend_ : nullptr);
    EXPECT_EQ(test::fault_of(places, result), "");
    return result;
  }

 private:
  cbc::Backend backend_{test::program()};
};
INSTANTIATE_TEST_SUITE_P(WithCbcAndWithout, SlotsBothWays, testing::Bool());

TEST_P(SlotsBothWays, NothingMovesIfAllFits) {
  const Places places(nodes_with({{"a", 8}, {"b", 8}}).pod("r", runs_on("a", "0,1", gpus(2))).pods("n", 1, 8));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.is_proven());
  EXPECT_EQ(result.moved_work, 0);
  EXPECT_EQ(result.state.node_of(places.pod("n-0")), places.node("b"));
}

TEST_P(SlotsBothWays, ClearsTheCheapestNodeForAPodOfAWholeNode) {
  const Places places(three_nodes());
  const SlotResult result = find(places);
  EXPECT_EQ(result.state.node_of(places.pod("n-0")), places.node("b"));
  EXPECT_EQ(result.moved, std::vector{places.pod("rb")});
  EXPECT_EQ(result.moved_work, 2'000);
}

TEST_P(SlotsBothWays, MovedPodsMakeRoomForEachOther) {
  // 8 clears a node of 4, which needs the room of a 2.
  const Places places(nodes_with({{"a", 8}, {"b", 8}, {"c", 2}})
                          .pod("r4", runs_on("a", "0,1,2,3", gpus(4)))
                          .pod("s4", runs_on("b", "0,1,2,3", gpus(4)))
                          .pod("s2", runs_on("b", "4,5", gpus(2)))
                          .pods("n", 1, 8));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved_work, 6'000);
}

TEST_P(SlotsBothWays, SharersArePackedForAPodOfAWholeDevice) {
  const Places places(nodes_with({{"a", 2}})
                          .pod("r", runs_on("a", "0", fraction("0.5")))
                          .pod("s", runs_on("a", "1", fraction("0.3")))
                          .pods("n", 1, 1));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved, std::vector{places.pod("s")});
  EXPECT_EQ(result.state.place_of(places.pod("s")).devices, DeviceList{0});
}

TEST_P(SlotsBothWays, SharersFillDevicesTogether) {
  // 0.6 + 0.4 and 0.5 + 0.5: largest first and best fit find it, one by one at random would not.
  Cluster cluster = nodes_with({{"a", 2}}).pod("r", runs_on("a", "0", fraction("0.5")));
  for (const char* part : {"0.6", "0.4", "0.5"}) cluster.pods("n" + std::string(part).substr(2), 1, fraction(part));
  const Places places(cluster);
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved_work, 0);
}

TEST_P(SlotsBothWays, CoresDecideWhereDevicesWouldDo) {
  const Places places(Cluster()
                          .at(1000)
                          .node("a", 2, R"("resources":{"cpu":8,"memory":"64Gi"})")
                          .node("b", 2, R"("resources":{"cpu":32,"memory":"64Gi"})")
                          .pod("r", runs_on("b", "0,1", R"("resources":{"cpu":4},)" + gpus(2)))
                          .pods("n", 1, 2, R"("resources":{"cpu":20})"));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved, std::vector{places.pod("r")});
}

TEST_P(SlotsBothWays, APodThatMayNotMoveStays) {
  Places places(nodes_with({{"a", 8}, {"b", 8}})
                    .pod("ra", runs_on("a", "0", gpus(1)))
                    .pod("rb", runs_on("b", "0,1", gpus(2)))
                    .pods("n", 1, 8));
  places.kept_with("ra").movable = false;
  const SlotResult result = find(places);
  EXPECT_EQ(result.moved, std::vector{places.pod("rb")});
  places.kept_with("rb").movable = false;
  const SlotResult stuck = find(places);
  EXPECT_EQ(stuck.homeless, std::vector<std::size_t>{0});
  EXPECT_TRUE(stuck.moved.empty());
}

TEST_P(SlotsBothWays, PodsKeepToTheirPartOfTheCluster) {
  Places places(nodes_with({{"a", 4}, {"b", 4}, {"c", 4}}).pod("r", runs_on("a", "0,1", gpus(2))).pods("n", 1, 4));
  const std::vector<bool> a = places.only({"a"}), not_b = places.only({"a", "c"});
  places.placed[0].nodes = &a;
  places.kept[0].nodes = &not_b;
  const SlotResult result = find(places);
  EXPECT_EQ(result.state.node_of(places.pod("n-0")), places.node("a"));
  EXPECT_EQ(result.state.node_of(places.pod("r")), places.node("c"));
}

TEST_P(SlotsBothWays, ThosePodsLeaveThatMakeRoom) {
  Places places(nodes_with({{"a", 4}, {"b", 4}})
                    .gang("g", R"("minMember":1)")
                    .pod("g-0", R"("gang":"g",)" + runs_on("a", "0,1", gpus(2)))
                    .pod("g-1", R"("gang":"g",)" + runs_on("a", "2,3", gpus(2)))
                    .pod("g-2", R"("gang":"g",)" + runs_on("b", "0,1", gpus(2)))
                    .pods("n", 1, 4));
  places.kept[0].kept = 2;
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.left.size(), 1U);
  EXPECT_LE(result.moved_work, 2'000);
  places.kept[0].kept = 1;
  const SlotResult more = find(places);
  EXPECT_EQ(more.moved_work, 0);
}

TEST_P(SlotsBothWays, AGangIsPlacedWholeOrNotAtAll) {
  const Places places(nodes_with({{"a", 4}})
                          .gang("g")
                          .pod("r", runs_on("a", "0", gpus(1)))
                          .pods("g", 2, 2, R"("gang":"g")")
                          .pods("n", 1, 1));
  const SlotResult result = find(places);
  ASSERT_EQ(result.homeless.size(), 1U);
  EXPECT_FALSE(result.state.is_present(places.pod("g-0")));
  EXPECT_FALSE(result.state.is_present(places.pod("g-1")));
  EXPECT_TRUE(result.state.is_present(places.pod("n-0")));
  EXPECT_TRUE(result.moved.empty());
}

TEST_P(SlotsBothWays, NoMorePodsAreMovedThanAllowed) {
  Places places(nodes_with({{"a", 4}, {"b", 4}, {"c", 4}})
                    .pod("r", runs_on("a", "0", gpus(1)))
                    .pod("s", runs_on("a", "1", gpus(1)))
                    .pod("t", runs_on("b", "0,1,2", gpus(3)))
                    .pod("u", runs_on("c", "0,1,2", gpus(3)))
                    .pods("n", 1, 4));
  EXPECT_EQ(find(places).moved.size(), 2U);
  places.most_moves = 1;
  const SlotResult result = find(places);
  EXPECT_EQ(result.homeless.size(), 1U);
}

TEST_P(SlotsBothWays, PortsAndAntiAffinityHold) {
  const std::string port = R"("gpu":{"count":1},"hostPorts":[{"port":80}])";
  const std::string apart =
      R"("gpu":{"count":1},"podAntiAffinity":{"topologyKey":"kubernetes.io/hostname","matchGang":true})";
  const auto resources = [](const std::string& name) {
    return R"("labels":{"kubernetes.io/hostname":")" + name + R"("},"resources":{"cpu":64,"memory":"64Gi"})";
  };
  const Places places(Cluster()
                          .at(1000)
                          .node("a", 4, resources("a"))
                          .node("b", 4, resources("b"))
                          .gang("g")
                          .pods("p", 1, port)
                          .pods("q", 1, port)
                          .pods("g", 2, R"("gang":"g",)" + apart));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_NE(result.state.node_of(places.pod("p-0")), result.state.node_of(places.pod("q-0")));
  EXPECT_NE(result.state.node_of(places.pod("g-0")), result.state.node_of(places.pod("g-1")));
}

// Largest first leaves the 0.4 of two devices to a 0.8: only the model sees that 0.6 + 0.4 and 0.8 + 0.2 fit.
TEST(Slots, TheModelProvesTheLeastMoves) {
  cbc::Backend backend(test::program());
  const Places places(three_nodes());
  const SlotResult result = places.find(&backend);
  EXPECT_EQ(result.least_moved, 2'000);
  EXPECT_TRUE(result.is_proven());
}

TEST(Slots, WhatCannotBePlacedIsProven) {
  cbc::Backend backend(test::program());
  const Places places(nodes_with({{"a", 4}, {"b", 4}})
                          .pod("r", runs_on("a", "0,1", gpus(2)))
                          .pod("s", runs_on("b", "0,1", gpus(2)))
                          .pod("t", runs_on("b", "2", gpus(1)))
                          .pods("n", 1, 4));
  const SlotResult result = places.find(&backend);
  EXPECT_EQ(result.homeless.size(), 1U);
  EXPECT_EQ(result.least_moved, std::nullopt);
}

TEST(Slots, AFailingWorkerLeavesTheHeuristicsResult) {
  const Places places(three_nodes());
  for (const char* fault : {"segv", "kill", "garbage", "alloc"}) {
    SCOPED_TRACE(fault);
    cbc::BackendOptions options;
    options.worker_program = test::program();
    options.fault = fault;
    options.memory_limit = std::uint64_t{1} << 30;
    cbc::Backend backend(std::move(options));
    const SlotResult result = places.find(&backend);
    EXPECT_EQ(test::fault_of(places, result), "");
    EXPECT_EQ(result.moved_work, places.find().moved_work);
    EXPECT_FALSE(result.is_proven());
  }
}

TEST(Slots, AWorkerThatHangsIsNotWaitedForBeyondTheDeadline) {
  const Places places(three_nodes());
  cbc::BackendOptions options;
  options.worker_program = test::program();
  options.fault = "hang";
  cbc::Backend backend(std::move(options));
  const auto begin = std::chrono::steady_clock::now();
  const SlotResult result = places.find(&backend, std::chrono::milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(test::fault_of(places, result), "");
  EXPECT_TRUE(result.homeless.empty());
}

TEST(Slots, WithoutTimeThereIsAResult) {
  const Places places(three_nodes());
  cbc::Backend backend(test::program());
  const SlotResult result = places.find(&backend, std::chrono::milliseconds(0));
  EXPECT_EQ(test::fault_of(places, result), "");
  EXPECT_TRUE(result.homeless.empty());
}

TEST(SlotTime, ThereAreNoPlacesIfItIsUpBeforeAllPodsAreDealt) {
  const Places places(nodes_with({{"a", 8}, {"b", 8}}).pod("r", runs_on("a", "0,1", gpus(2))).pods("n", 1, 8));
  const Deadline over(Deadline::Clock::now(), false), deterministic(Deadline::Clock::now(), true);
  EXPECT_FALSE(find_places(places.task(), {over, over}, nullptr).has_value());
  EXPECT_TRUE(find_places(places.task(), {deterministic, deterministic}, nullptr).has_value());
}

}  // namespace
}  // namespace muster::slots
