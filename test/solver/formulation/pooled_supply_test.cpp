#include "solver/formulation/pooled_supply.h"

#include <gtest/gtest.h>

#include "test/solver/scene.h"

namespace muster::formulation {
namespace {

std::string running(const std::string& name, const std::string& node, const std::string& more = "") {
  return R"({"name":")" + name + R"(","gpu":{"count":1},"node":")" + node + R"(","started":0)" + more + "}";
}

std::optional<Supply> supply_of(const test::Scene& scene) {
  return collect_pooled_supply(scene.cluster.problem, scene.sub.demand, scene.sub.zones, scene.sub.base);
}

constexpr const char* kWaits = R"(,{"name":"w","gpu":{"count":2}})";

TEST(PooledSupply, MergesNodesThatDifferOnlyInPodsThatMayLeave) {
  const test::Scene scene(
      test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4) + "," + test::node_line("o", 2),
                       running("a", "m") + "," + running("b", "m") + kWaits));
  const auto supply = supply_of(scene);
  ASSERT_TRUE(supply.has_value());
  ASSERT_EQ(supply->rooms.size(), 2U);
  const ResidualClass& large = supply->rooms[ResidualClassIndex(0)];
  EXPECT_EQ(large.nodes.size(), 2U);
  EXPECT_EQ(large.free_devices.size(), 4U) << "pods that may leave are not there";
  EXPECT_TRUE(large.residents.empty());
  EXPECT_EQ(supply->rooms[ResidualClassIndex(1)].nodes.size(), 1U);
}

TEST(PooledSupply, KeepsNodesApartByPodsThatStayForGood) {
  const test::Scene scene(
      test::cluster_of(test::node_line("m", 4) + "," + test::node_line("n", 4),
                       running("a", "m", R"(,"preemptible":false)") + "," + running("b", "n") + kWaits));
  const auto supply = supply_of(scene);
  ASSERT_TRUE(supply.has_value());
  ASSERT_EQ(supply->rooms.size(), 2U);
  EXPECT_EQ(supply->rooms[ResidualClassIndex(0)].free_devices.size(), 3U);
  EXPECT_EQ(supply->rooms[ResidualClassIndex(1)].free_devices.size(), 4U);
}

TEST(PooledSupply, TakesARunningPodWhereItsFiltersWouldNot) {
  std::string cordoned = test::node_line("m", 4);
  cordoned.insert(cordoned.size() - 1, R"(,"unschedulable":true)");
  const test::Scene scene(test::cluster_of(cordoned + "," + test::node_line("n", 4), running("a", "m") + kWaits));
  const auto supply = supply_of(scene);
  ASSERT_TRUE(supply.has_value());
  ASSERT_EQ(supply->rooms.size(), 2U);
  const DemandIndex stays = scene.sub.demand.running[RunningCellIndex(0)].stay;
  EXPECT_EQ(supply->rooms[ResidualClassIndex(0)].demands, std::vector<DemandIndex>{stays});
}

TEST(PooledSupply, IsNoneWherePodsExceedWhatANodeReports) {
  const std::string small = R"({"name":"m","resources":{"cpu":1},"gpus":{"count":4}})";
  const std::string line = R"({"format":"muster/v1","time":1000,"nodes":[)" + small + R"(],"pods":[)" +
                           running("a", "m", R"(,"resources":{"cpu":2})") + kWaits + "]}";
  auto snapshot = std::make_unique<Snapshot>(*muster_v1::SnapshotReader({.strict = false}).read(line));
  Problem problem = *build_problem(*snapshot);
  FairShares shares = compute_fair_shares(problem);
  const test::Scene scene({line, std::move(snapshot), std::move(problem), std::move(shares)});
  EXPECT_FALSE(supply_of(scene).has_value());
}

}  // namespace
}  // namespace muster::formulation
