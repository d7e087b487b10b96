#include "solver/formulation/residual_class.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/scene.h"

namespace muster::formulation {
namespace {

using test::cluster_of;
using test::node_line;
using test::pod_lines;
using test::Scene;

constexpr DeviceUnits kDevice = 1'000'000;  // of a device of unknown memory

TEST(CollectSupply, TakesNodesWithEqualRoomForOneClass) {
  const Scene scene(cluster_of(node_line("a", 2) + "," + node_line("b", 4) + "," + node_line("c", 2),
                               pod_lines("p", 1, R"("gpu":{"count":1})")));
  const Supply& supply = scene.sub.supply;
  ASSERT_EQ(supply.rooms.size(), 2U);
  EXPECT_EQ(supply.rooms[ResidualClassIndex(0)].nodes, (std::vector<NodeIndex>{NodeIndex(0), NodeIndex(2)}));
  EXPECT_EQ(supply.rooms[ResidualClassIndex(1)].nodes, std::vector<NodeIndex>{NodeIndex(1)});
  EXPECT_EQ(supply.room_of[NodeIndex(2)], ResidualClassIndex(0));
}

// Of four devices one is in use, one has 0.7 left: these, the least room first; what is taken is not free.
TEST(CollectSupply, KnowsWhatIsFreeBesideWhatRuns) {
  const Scene scene(
      cluster_of(node_line("a", 4),
                 R"({"name":"r","gpu":{"count":1},"node":"a","gpus":[1],"started":0,"resources":{"cpu":10}},
         {"name":"s","gpu":{"fraction":0.3},"node":"a","gpus":[2],"started":0},)" +
                     pod_lines("p", 9, R"("gpu":{"count":1},"resources":{"cpu":30})"),
                 R"(,"policy":{"actions":["place"]})"));
  ASSERT_EQ(scene.sub.supply.rooms.size(), 1U);
  const ResidualClass& room = scene.sub.supply.rooms[ResidualClassIndex(0)];
  EXPECT_EQ(room.free_devices, (std::vector<DeviceUnits>{700'000, kDevice, kDevice}));
  EXPECT_EQ(scene.sub.supply.devices[NodeIndex(0)], (std::vector<std::int32_t>{2, 0, 3}));
  EXPECT_EQ(room.free[kCpu.value()], 54'000) << "thousandths of a core";
  ASSERT_EQ(room.demands.size(), 1U);
  EXPECT_EQ(room.stock, std::vector<std::int64_t>{9});
  EXPECT_EQ(room.most, std::vector<std::int64_t>{1}) << "two devices are idle, but 54 cores are enough for one pod";
}

// By shares: three of 0.3 a device, so six; of 0.6 one a device; of two devices one at a time.
TEST(CollectSupply, CountsSharesThatFitOnEachDevice) {
  const Scene scene(cluster_of(node_line("a", 2), pod_lines("a", 20, R"("gpu":{"fraction":0.3})") + "," +
                                                      pod_lines("b", 20, R"("gpu":{"fraction":0.6})") + "," +
                                                      pod_lines("c", 20, R"("gpu":{"count":2})") + "," +
                                                      pod_lines("d", 20, R"("gpu":{"count":3})")));
  const ResidualClass& room = scene.sub.supply.rooms[ResidualClassIndex(0)];
  EXPECT_EQ(room.most, (std::vector<std::int64_t>{6, 2, 1})) << "and none of three devices";
}

TEST(CollectSupply, LeavesOutReservedNodesAndCordonedOnes) {
  const Scene scene(cluster_of(node_line("a", 2) + "," + node_line("b", 2) +
                                   R"(,{"name":"c","unschedulable":true,"resources":{"cpu":64,"memory":"64Gi"},)"
                                   R"("gpus":{"count":2}})",
                               pod_lines("p", 1, R"("gpu":{"count":1})")));
  EXPECT_EQ(scene.sub.supply.rooms[ResidualClassIndex(0)].count(), 2) << "not c";
  const Supply rest =
      collect_supply(scene.cluster.problem, scene.sub.demand, scene.sub.zones, scene.sub.base, {true, false, false});
  ASSERT_EQ(rest.rooms.size(), 1U);
  EXPECT_EQ(rest.rooms[ResidualClassIndex(0)].nodes, std::vector<NodeIndex>{NodeIndex(1)});
  EXPECT_TRUE(rest.room_of[NodeIndex(0)].is_none());
}

// A pod that may leave counts as gone, and is listed as resident.
TEST(CollectSupply, CountsTheCapacityOfEvictionCandidatesAsFree) {
  const Scene scene(cluster_of(node_line("a", 2),
                               R"({"name":"r","gang":"low","gpu":{"count":2},"node":"a","gpus":[0,1],"started":0},
                                  {"name":"w","gang":"high","gpu":{"count":2}})",
                               R"(,"gangs":[{"name":"low"},{"name":"high","priority":5}])"
                               R"(,"policy":{"actions":["place","preempt"]})"));
  const ResidualClass& room = scene.sub.supply.rooms[ResidualClassIndex(0)];
  EXPECT_EQ(room.free_devices, (std::vector<DeviceUnits>{kDevice, kDevice}));
  ASSERT_EQ(room.residents.size(), 1U);
  EXPECT_FALSE(room.pinned) << "it shares no device";
  EXPECT_EQ(room.stock, (std::vector<std::int64_t>{1, 1})) << "pods that stay, pods that come";
}

const std::string kTwoRacks =
    R"({"name":"a","labels":{"rack":"1"},"resources":{"cpu":8},"gpus":{"count":2}},
       {"name":"b","labels":{"rack":"2"},"resources":{"cpu":8},"gpus":{"count":2}},
       {"name":"c","labels":{"rack":"1"},"resources":{"cpu":8},"gpus":{"count":2}})";

TEST(CollectPlacementZones, AreTheDomainsOfTheRequestedTopologyLevel) {
  const std::string pods = pod_lines("p", 2, R"("gang":"g","gpu":{"count":1})");
  const Scene asked(
      cluster_of(kTwoRacks, pods, R"(,"topology":["rack"],"gangs":[{"name":"g","topology":{"required":"rack"}}])"));
  EXPECT_EQ(asked.sub.zones.domains.size(), 2U);
  EXPECT_EQ(asked.sub.zones.of_node[NodeIndex(0)], asked.sub.zones.of_node[NodeIndex(2)]);
  EXPECT_NE(asked.sub.zones.of_node[NodeIndex(0)], asked.sub.zones.of_node[NodeIndex(1)]);
  EXPECT_EQ(asked.sub.supply.rooms.size(), 2U) << "residual classes of different zones differ";
  const Scene not_asked(cluster_of(kTwoRacks, pods, R"(,"topology":["rack"],"gangs":[{"name":"g"}])"));
  EXPECT_EQ(not_asked.sub.zones.domains.size(), 1U);
}

// --- The room of one node

struct Filled {
  explicit Filled(const std::string& pods)
      : scene(cluster_of(node_line("a", 3), pods)), room(scene.cluster.problem, first()) {}
  const ResidualClass& first() const { return scene.sub.supply.rooms[ResidualClassIndex(0)]; }
  const PodClass& of(const std::string& pod) const { return scene.cluster.problem.class_of(scene.pod(pod)); }
  Scene scene;
  NodeResidual room;
};

const std::string kSharers = R"({"name":"half","gpu":{"fraction":0.5}},{"name":"third","gpu":{"fraction":0.3}},
    {"name":"whole","gpu":{"count":1}},{"name":"both","gpu":{"count":2}},{"name":"wide","gpu":{"fraction":0.5,"devices":2}}
    ,{"name":"cores","resources":{"cpu":40}})";

TEST(NodeResidual, PutsSharersOnTheFullestDevicesThatTakeThem) {
  Filled f(kSharers);
  ASSERT_TRUE(f.room.add(f.of("half")));  // 0.5, 1, 1
  EXPECT_EQ(f.room.last_devices(), std::vector<std::int32_t>{0});
  ASSERT_TRUE(f.room.add(f.of("third")));  // 0.2, 1, 1
  EXPECT_EQ(f.room.last_devices(), std::vector<std::int32_t>{0});
  ASSERT_TRUE(f.room.add(f.of("third")));  // 0.2, 0.7, 1
  EXPECT_EQ(f.room.last_devices(), std::vector<std::int32_t>{1});
  ASSERT_TRUE(f.room.add(f.of("wide")));  // 0.2, 0.2, 0.5
  EXPECT_EQ(f.room.last_devices(), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(f.room.free_devices(), (std::vector<DeviceUnits>{200'000, 200'000, 500'000}));
}

TEST(NodeResidual, KeepsWholeDevicesForOnePod) {
  Filled f(kSharers);
  ASSERT_TRUE(f.room.add(f.of("half")));
  EXPECT_TRUE(f.room.fits(f.of("both")));
  ASSERT_TRUE(f.room.add(f.of("whole")));
  EXPECT_EQ(f.room.free_devices(), (std::vector<DeviceUnits>{500'000, 0, kDevice}));
  EXPECT_FALSE(f.room.fits(f.of("both"))) << "one device is idle";
  EXPECT_FALSE(f.room.add(f.of("both")));
  EXPECT_EQ(f.room.free_devices(), (std::vector<DeviceUnits>{500'000, 0, kDevice})) << "nothing has changed";
}

TEST(NodeResidual, CountsResources) {
  Filled f(kSharers);
  ASSERT_TRUE(f.room.add(f.of("cores")));
  EXPECT_EQ(f.room.free()[kCpu.value()], 24'000);
  EXPECT_FALSE(f.room.has_resources(f.of("cores"))) << "24 cores of 40";
  EXPECT_FALSE(f.room.add(f.of("cores")));
}

TEST(NodeResidual, RemovesWhatItHasAdded) {
  Filled f(kSharers);
  const std::vector<DeviceUnits> devices = f.room.free_devices();
  const std::vector<Amount> free = f.room.free();
  f.room.add_on(f.of("wide"), {0, 2});
  EXPECT_EQ(f.room.free_devices(), (std::vector<DeviceUnits>{500'000, kDevice, 500'000}));
  f.room.remove_from(f.of("wide"), {0, 2});
  EXPECT_EQ(f.room.free_devices(), devices);
  EXPECT_EQ(f.room.free(), free);
}

}  // namespace
}  // namespace muster::formulation
