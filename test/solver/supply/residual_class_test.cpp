#include "solver/supply/residual_class.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/master_case.h"

namespace muster::formulation {
namespace {

using test::MasterCase;
using test::nodes_with;

constexpr DeviceUnits kDevice = 1'000'000;  // of a device of unknown memory

TEST(CollectSupply, TakesNodesWithEqualRoomForOneClass) {
  const MasterCase scene(nodes_with({{"a", 2}, {"b", 4}, {"c", 2}}).pods("p", 1, 1));
  const Supply& supply = scene.restricted.supply;
  ASSERT_EQ(supply.residuals.size(), 2U);
  EXPECT_EQ(supply.residuals[ResidualClassIndex(0)].nodes, (std::vector<NodeIndex>{NodeIndex(0), NodeIndex(2)}));
  EXPECT_EQ(supply.residuals[ResidualClassIndex(1)].nodes, std::vector<NodeIndex>{NodeIndex(1)});
  EXPECT_EQ(supply.residual_of[NodeIndex(2)], ResidualClassIndex(0));
}

// Of four devices one is in use, one has 0.7 left: these, the least room first; what is taken is not free.
TEST(CollectSupply, KnowsWhatIsFreeBesideWhatRuns) {
  const MasterCase scene(nodes_with({{"a", 4}})
                             .running("r", "a", 1, R"("gpus":[1],"started":0,"resources":{"cpu":10})")
                             .pod("s", R"("gpu":{"fraction":0.3},"node":"a","gpus":[2],"started":0)")
                             .pods("p", 9, 1, R"("resources":{"cpu":30})")
                             .policy(R"("actions":["place"])"));
  ASSERT_EQ(scene.restricted.supply.residuals.size(), 1U);
  const ResidualClass& residual = scene.restricted.supply.residuals[ResidualClassIndex(0)];
  EXPECT_EQ(residual.free_devices, (std::vector<DeviceUnits>{700'000, kDevice, kDevice}));
  EXPECT_EQ(scene.restricted.supply.devices[NodeIndex(0)], (std::vector<std::int32_t>{2, 0, 3}));
  EXPECT_EQ(residual.free[kCpu.value()], 54'000) << "thousandths of a core";
  ASSERT_EQ(residual.demands.size(), 1U);
  EXPECT_EQ(residual.stock, std::vector<std::int64_t>{9});
  EXPECT_EQ(residual.most, std::vector<std::int64_t>{1}) << "two devices are idle, but 54 cores are enough for one pod";
}

// By shares: three of 0.3 a device, so six; of 0.6 one a device; of two devices one at a time.
TEST(CollectSupply, CountsSharesThatFitOnEachDevice) {
  const MasterCase scene(nodes_with({{"a", 2}})
                             .pods("a", 20, R"("gpu":{"fraction":0.3})")
                             .pods("b", 20, R"("gpu":{"fraction":0.6})")
                             .pods("c", 20, 2)
                             .pods("d", 20, 3));
  const ResidualClass& residual = scene.restricted.supply.residuals[ResidualClassIndex(0)];
  EXPECT_EQ(residual.most, (std::vector<std::int64_t>{6, 2, 1})) << "and none of three devices";
}

TEST(CollectSupply, LeavesOutCordonedNodes) {
  const MasterCase scene(nodes_with({{"a", 2}, {"b", 2}})
                             .node("c", 2, R"("unschedulable":true,"resources":{"cpu":64,"memory":"64Gi"})")
                             .pods("p", 1, 1));
  EXPECT_EQ(scene.restricted.supply.residuals[ResidualClassIndex(0)].count(), 2) << "not c";
  EXPECT_TRUE(scene.restricted.supply.residual_of[NodeIndex(2)].is_none());
}

// A pod that may leave counts as gone, and is listed as resident.
TEST(CollectSupply, CountsTheCapacityOfEvictionCandidatesAsFree) {
  const MasterCase scene(nodes_with({{"a", 2}})
                             .gang("low")
                             .gang("high", R"("priority":5)")
                             .running("r", "a", 2, R"("gang":"low","gpus":[0,1],"started":0)")
                             .pod("w", 2, R"("gang":"high")")
                             .policy(R"("actions":["place","preempt"])"));
  const ResidualClass& residual = scene.restricted.supply.residuals[ResidualClassIndex(0)];
  EXPECT_EQ(residual.free_devices, (std::vector<DeviceUnits>{kDevice, kDevice}));
  ASSERT_EQ(residual.residents.size(), 1U);
  EXPECT_FALSE(residual.pinned) << "it shares no device";
  EXPECT_EQ(residual.stock, (std::vector<std::int64_t>{1, 1})) << "pods that stay, pods that come";
}

// And a gang of two pods.
test::Cluster two_racks(const char* topology) {
  test::Cluster cluster;
  for (const auto& [node, rack] : {std::pair("a", "1"), std::pair("b", "2"), std::pair("c", "1")})
    cluster.node(node, 2, R"("resources":{"cpu":8},"labels":{"rack":")" + std::string(rack) + "\"}");
  return cluster.with(R"("topology":["rack"])").gang("g", topology).pods("p", 2, 1, R"("gang":"g")");
}

TEST(CollectPlacementZones, AreTheDomainsOfTheRequestedTopologyLevel) {
  const MasterCase asked(two_racks(R"("topology":{"required":"rack"})"));
  EXPECT_EQ(asked.restricted.zones.domains.size(), 2U);
  EXPECT_EQ(asked.restricted.zones.of_node[NodeIndex(0)], asked.restricted.zones.of_node[NodeIndex(2)]);
  EXPECT_NE(asked.restricted.zones.of_node[NodeIndex(0)], asked.restricted.zones.of_node[NodeIndex(1)]);
  EXPECT_EQ(asked.restricted.supply.residuals.size(), 2U) << "residual classes of different zones differ";
  const MasterCase not_asked(two_racks(""));
  EXPECT_EQ(not_asked.restricted.zones.domains.size(), 1U);
}

// --- The residual capacity of one node

struct Filled {
  Filled()
      : scene(nodes_with({{"a", 3}})
                  .pod("half", R"("gpu":{"fraction":0.5})")
                  .pod("third", R"("gpu":{"fraction":0.3})")
                  .pod("whole", 1)
                  .pod("both", 2)
                  .pod("wide", R"("gpu":{"fraction":0.5,"devices":2})")
                  .pod("cores", R"("resources":{"cpu":40})")),
        residual(*scene.cluster, first()) {}
  const ResidualClass& first() const { return scene.restricted.supply.residuals[ResidualClassIndex(0)]; }
  const PodClass& of(const std::string& pod) const { return scene.cluster->class_of(scene.pod(pod)); }
  MasterCase scene;
  NodeResidual residual;
};

TEST(NodeResidual, PutsSharersOnTheFullestDevicesThatTakeThem) {
  Filled f;
  ASSERT_TRUE(f.residual.add(f.of("half")));  // 0.5, 1, 1
  EXPECT_EQ(f.residual.last_devices(), std::vector<std::int32_t>{0});
  ASSERT_TRUE(f.residual.add(f.of("third")));  // 0.2, 1, 1
  EXPECT_EQ(f.residual.last_devices(), std::vector<std::int32_t>{0});
  ASSERT_TRUE(f.residual.add(f.of("third")));  // 0.2, 0.7, 1
  EXPECT_EQ(f.residual.last_devices(), std::vector<std::int32_t>{1});
  ASSERT_TRUE(f.residual.add(f.of("wide")));  // 0.2, 0.2, 0.5
  EXPECT_EQ(f.residual.last_devices(), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(f.residual.free_devices(), (std::vector<DeviceUnits>{200'000, 200'000, 500'000}));
}

TEST(NodeResidual, KeepsWholeDevicesForOnePod) {
  Filled f;
  ASSERT_TRUE(f.residual.add(f.of("half")));
  EXPECT_TRUE(f.residual.fits(f.of("both")));
  ASSERT_TRUE(f.residual.add(f.of("whole")));
  EXPECT_EQ(f.residual.free_devices(), (std::vector<DeviceUnits>{500'000, 0, kDevice}));
  EXPECT_FALSE(f.residual.fits(f.of("both"))) << "one device is idle";
  EXPECT_FALSE(f.residual.add(f.of("both")));
  EXPECT_EQ(f.residual.free_devices(), (std::vector<DeviceUnits>{500'000, 0, kDevice})) << "nothing has changed";
}

TEST(NodeResidual, CountsResources) {
  Filled f;
  ASSERT_TRUE(f.residual.add(f.of("cores")));
  EXPECT_EQ(f.residual.free()[kCpu.value()], 24'000);
  EXPECT_FALSE(f.residual.has_resources(f.of("cores"))) << "24 cores of 40";
  EXPECT_FALSE(f.residual.add(f.of("cores")));
}

TEST(NodeResidual, RemovesWhatItHasAdded) {
  Filled f;
  const std::vector<DeviceUnits> devices = f.residual.free_devices();
  const std::vector<Amount> free = f.residual.free();
  f.residual.add_on(f.of("wide"), {0, 2});
  EXPECT_EQ(f.residual.free_devices(), (std::vector<DeviceUnits>{500'000, kDevice, 500'000}));
  f.residual.remove_from(f.of("wide"), {0, 2});
  EXPECT_EQ(f.residual.free_devices(), devices);
  EXPECT_EQ(f.residual.free(), free);
}

}  // namespace
}  // namespace muster::formulation
