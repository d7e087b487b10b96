#include "solver/slots/slots.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/slots/places.h"

namespace muster::slots {
namespace {

using test::cluster_of;
using test::node_line;
using test::Places;
using test::pod_lines;
using test::running_pod;

std::string gpus(int count) { return R"("gpu":{"count":)" + std::to_string(count) + "}"; }
std::string fraction(const std::string& part) { return R"("gpu":{"fraction":)" + part + "}"; }

// Both ways to find places, and what both have to find.
class SlotsBothWays : public testing::TestWithParam<bool> {
 protected:
  SlotResult find(const Places& places) {
    SlotResult result = places.find(GetParam() ? &backend_ : nullptr);
    EXPECT_EQ(test::fault_of(places, result), "");
    return result;
  }

 private:
  cbc::Backend backend_{MUSTER_BINARY};
};
INSTANTIATE_TEST_SUITE_P(WithCbcAndWithout, SlotsBothWays, testing::Bool());

TEST_P(SlotsBothWays, NothingMovesIfAllFits) {
  const Places places(cluster_of(node_line("a", 8) + "," + node_line("b", 8),
                                 running_pod("r", "a", "0,1", gpus(2)) + "," + pod_lines("n", 1, gpus(8))));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.is_proven());
  EXPECT_EQ(result.moved_work, 0);
  EXPECT_EQ(result.state.node_of(places.pod("n-0")), places.node("b"));
}

TEST_P(SlotsBothWays, ClearsTheCheapestNodeForAPodOfAWholeNode) {
  const Places places(cluster_of(node_line("a", 8) + "," + node_line("b", 8) + "," + node_line("c", 8),
                                 running_pod("ra", "a", "0,1,2", gpus(3)) + "," +
                                     running_pod("rb", "b", "0,1", gpus(2)) + "," +
                                     running_pod("rc", "c", "0,1,2,3", gpus(4)) + "," + pod_lines("n", 1, gpus(8))));
  const SlotResult result = find(places);
  EXPECT_EQ(result.state.node_of(places.pod("n-0")), places.node("b"));
  EXPECT_EQ(result.moved, std::vector{places.pod("rb")});
  EXPECT_EQ(result.moved_work, 2'000);
}

TEST_P(SlotsBothWays, MovedPodsMakeRoomForEachOther) {
  // 8 clears a node of 4, which needs the room of a 2.
  const Places places(cluster_of(node_line("a", 8) + "," + node_line("b", 8) + "," + node_line("c", 2),
                                 running_pod("r4", "a", "0,1,2,3", gpus(4)) + "," +
                                     running_pod("s4", "b", "0,1,2,3", gpus(4)) + "," +
                                     running_pod("s2", "b", "4,5", gpus(2)) + "," + pod_lines("n", 1, gpus(8))));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved_work, 6'000);
}

TEST_P(SlotsBothWays, SharersArePackedForAPodOfAWholeDevice) {
  const Places places(cluster_of(node_line("a", 2), running_pod("r", "a", "0", fraction("0.5")) + "," +
                                                        running_pod("s", "a", "1", fraction("0.3")) + "," +
                                                        pod_lines("n", 1, gpus(1))));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved, std::vector{places.pod("s")});
  EXPECT_EQ(result.state.place_of(places.pod("s")).devices, DeviceList{0});
}

TEST_P(SlotsBothWays, SharersFillDevicesTogether) {
  // 0.6 + 0.4 and 0.5 + 0.5: largest first and best fit find it, one by one at random would not.
  std::string pods = running_pod("r", "a", "0", fraction("0.5"));
  for (const char* part : {"0.6", "0.4", "0.5"})
    pods += "," + pod_lines("n" + std::string(part).substr(2), 1, fraction(part));
  const Places places(cluster_of(node_line("a", 2), pods));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved_work, 0);
}

TEST_P(SlotsBothWays, CoresDecideWhereDevicesWouldDo) {
  const std::string small = R"({"name":"a","resources":{"cpu":8,"memory":"64Gi"},"gpus":{"count":2}})";
  const std::string large = R"({"name":"b","resources":{"cpu":32,"memory":"64Gi"},"gpus":{"count":2}})";
  const Places places(
      cluster_of(small + "," + large, running_pod("r", "b", "0,1", R"("resources":{"cpu":4},)" + gpus(2)) + "," +
                                          pod_lines("n", 1, R"("resources":{"cpu":20},)" + gpus(2))));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_EQ(result.moved, std::vector{places.pod("r")});
}

TEST_P(SlotsBothWays, APodThatMayNotMoveStays) {
  Places places(cluster_of(node_line("a", 8) + "," + node_line("b", 8), running_pod("ra", "a", "0", gpus(1)) + "," +
                                                                            running_pod("rb", "b", "0,1", gpus(2)) +
                                                                            "," + pod_lines("n", 1, gpus(8))));
  places.kept_with("ra").movable = false;
  const SlotResult result = find(places);
  EXPECT_EQ(result.moved, std::vector{places.pod("rb")});
  places.kept_with("rb").movable = false;
  const SlotResult stuck = find(places);
  EXPECT_EQ(stuck.homeless, std::vector<std::size_t>{0});
  EXPECT_TRUE(stuck.moved.empty());
}

TEST_P(SlotsBothWays, PodsKeepToTheirPartOfTheCluster) {
  Places places(cluster_of(node_line("a", 4) + "," + node_line("b", 4) + "," + node_line("c", 4),
                           running_pod("r", "a", "0,1", gpus(2)) + "," + pod_lines("n", 1, gpus(4))));
  const std::vector<bool> a = places.only({"a"}), not_b = places.only({"a", "c"});
  places.placed[0].nodes = &a;
  places.kept[0].nodes = &not_b;
  const SlotResult result = find(places);
  EXPECT_EQ(result.state.node_of(places.pod("n-0")), places.node("a"));
  EXPECT_EQ(result.state.node_of(places.pod("r")), places.node("c"));
}

TEST_P(SlotsBothWays, ThosePodsLeaveThatMakeRoom) {
  Places places(cluster_of(node_line("a", 4) + "," + node_line("b", 4),
                           R"({"name":"g-0","gang":"g","node":"a","started":500,"gpus":[0,1],"gpu":{"count":2}},)"
                           R"({"name":"g-1","gang":"g","node":"a","started":500,"gpus":[2,3],"gpu":{"count":2}},)"
                           R"({"name":"g-2","gang":"g","node":"b","started":500,"gpus":[0,1],"gpu":{"count":2}},)" +
                               pod_lines("n", 1, gpus(4)),
                           R"(,"gangs":[{"name":"g","minMember":1}])"));
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
  const Places places(
      cluster_of(node_line("a", 4),
                 running_pod("r", "a", "0", gpus(1)) + "," +
                     R"({"name":"g-0","gang":"g","gpu":{"count":2}},{"name":"g-1","gang":"g","gpu":{"count":2}},)" +
                     pod_lines("n", 1, gpus(1)),
                 R"(,"gangs":[{"name":"g"}])"));
  const SlotResult result = find(places);
  ASSERT_EQ(result.homeless.size(), 1U);
  EXPECT_FALSE(result.state.is_present(places.pod("g-0")));
  EXPECT_FALSE(result.state.is_present(places.pod("g-1")));
  EXPECT_TRUE(result.state.is_present(places.pod("n-0")));
  EXPECT_TRUE(result.moved.empty());
}

TEST_P(SlotsBothWays, NoMorePodsAreMovedThanAllowed) {
  Places places(cluster_of(node_line("a", 4) + "," + node_line("b", 4) + "," + node_line("c", 4),
                           running_pod("r", "a", "0", gpus(1)) + "," + running_pod("s", "a", "1", gpus(1)) + "," +
                               running_pod("t", "b", "0,1,2", gpus(3)) + "," + running_pod("u", "c", "0,1,2", gpus(3)) +
                               "," + pod_lines("n", 1, gpus(4))));
  EXPECT_EQ(find(places).moved.size(), 2U);
  places.most_moves = 1;
  const SlotResult result = find(places);
  EXPECT_EQ(result.homeless.size(), 1U);
}

TEST_P(SlotsBothWays, PortsAndAntiAffinityHold) {
  const std::string port = R"("gpu":{"count":1},"hostPorts":[{"port":80}])";
  const std::string apart =
      R"("gpu":{"count":1},"podAntiAffinity":{"topologyKey":"kubernetes.io/hostname","matchGang":true})";
  const auto node = [](const std::string& name) {
    return R"({"name":")" + name + R"(","labels":{"kubernetes.io/hostname":")" + name +
           R"("},"resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":4}})";
  };
  const Places places(cluster_of(node("a") + "," + node("b"),
                                 pod_lines("p", 1, port) + "," + pod_lines("q", 1, port) + "," +
                                     R"({"name":"g-0","gang":"g",)" + apart + R"(},{"name":"g-1","gang":"g",)" + apart +
                                     "}",
                                 R"(,"gangs":[{"name":"g"}])"));
  const SlotResult result = find(places);
  EXPECT_TRUE(result.homeless.empty());
  EXPECT_NE(result.state.node_of(places.pod("p-0")), result.state.node_of(places.pod("q-0")));
  EXPECT_NE(result.state.node_of(places.pod("g-0")), result.state.node_of(places.pod("g-1")));
}

// Largest first leaves the 0.4 of two devices to a 0.8: only the model sees that 0.6 + 0.4 and 0.8 + 0.2 fit.
TEST(Slots, TheModelProvesTheLeastMoves) {
  cbc::Backend backend(MUSTER_BINARY);
  const Places places(cluster_of(node_line("a", 8) + "," + node_line("b", 8) + "," + node_line("c", 8),
                                 running_pod("ra", "a", "0,1,2", gpus(3)) + "," +
                                     running_pod("rb", "b", "0,1", gpus(2)) + "," +
                                     running_pod("rc", "c", "0,1,2,3", gpus(4)) + "," + pod_lines("n", 1, gpus(8))));
  const SlotResult result = places.find(&backend);
  EXPECT_EQ(result.least_moved, 2'000);
  EXPECT_TRUE(result.is_proven());
}

TEST(Slots, WhatCannotBePlacedIsProven) {
  cbc::Backend backend(MUSTER_BINARY);
  const Places places(cluster_of(node_line("a", 4) + "," + node_line("b", 4),
                                 running_pod("r", "a", "0,1", gpus(2)) + "," + running_pod("s", "b", "0,1", gpus(2)) +
                                     "," + running_pod("t", "b", "2", gpus(1)) + "," + pod_lines("n", 1, gpus(4))));
  const SlotResult result = places.find(&backend);
  EXPECT_EQ(result.homeless.size(), 1U);
  EXPECT_EQ(result.least_moved, std::nullopt);
}

Places three_nodes() {
  return Places(cluster_of(node_line("a", 8) + "," + node_line("b", 8) + "," + node_line("c", 8),
                           running_pod("ra", "a", "0,1,2", gpus(3)) + "," + running_pod("rb", "b", "0,1", gpus(2)) +
                               "," + running_pod("rc", "c", "0,1,2,3", gpus(4)) + "," + pod_lines("n", 1, gpus(8))));
}

TEST(Slots, AFailingWorkerLeavesTheHeuristicsResult) {
  const Places places = three_nodes();
  for (const char* fault : {"segv", "kill", "garbage", "alloc"}) {
    SCOPED_TRACE(fault);
    cbc::BackendOptions options;
    options.worker_program = MUSTER_BINARY;
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
  const Places places = three_nodes();
  cbc::BackendOptions options;
  options.worker_program = MUSTER_BINARY;
  options.fault = "hang";
  cbc::Backend backend(std::move(options));
  const auto begin = std::chrono::steady_clock::now();
  const SlotResult result = places.find(&backend, std::chrono::milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(test::fault_of(places, result), "");
  EXPECT_TRUE(result.homeless.empty());
}

TEST(Slots, WithoutTimeThereIsAResult) {
  const Places places = three_nodes();
  cbc::Backend backend(MUSTER_BINARY);
  const SlotResult result = places.find(&backend, std::chrono::milliseconds(0));
  EXPECT_EQ(test::fault_of(places, result), "");
  EXPECT_TRUE(result.homeless.empty());
}

}  // namespace
}  // namespace muster::slots
