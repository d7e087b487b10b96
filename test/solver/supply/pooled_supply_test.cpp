#include "solver/supply/pooled_supply.h"

#include <gtest/gtest.h>

#include "test/solver/master_case.h"

namespace muster::formulation {
namespace {

using test::MasterCase;
using test::nodes_with;

std::optional<Supply> supply_of(const MasterCase& scene) {
  return collect_pooled_supply(*scene.cluster, scene.restricted.demand, scene.restricted.zones, scene.restricted.base);
}

constexpr const char* kStarted = R"("started":0)";

TEST(PooledSupply, MergesNodesThatDifferOnlyInPodsThatMayLeave) {
  const MasterCase scene(nodes_with({{"m", 4}, {"n", 4}, {"o", 2}})
                             .running("a", "m", 1, kStarted)
                             .running("b", "m", 1, kStarted)
                             .pod("w", 2));
  const auto supply = supply_of(scene);
  ASSERT_TRUE(supply.has_value());
  ASSERT_EQ(supply->residuals.size(), 2U);
  const ResidualClass& large = supply->residuals[ResidualClassIndex(0)];
  EXPECT_EQ(large.nodes.size(), 2U);
  EXPECT_EQ(large.free_devices.size(), 4U) << "pods that may leave are not there";
  EXPECT_TRUE(large.residents.empty());
  EXPECT_EQ(supply->residuals[ResidualClassIndex(1)].nodes.size(), 1U);
}

TEST(PooledSupply, KeepsNodesApartByPodsThatStayForGood) {
  const MasterCase scene(nodes_with({{"m", 4}, {"n", 4}})
                             .running("a", "m", 1, R"("started":0,"preemptible":false)")
                             .running("b", "n", 1, kStarted)
                             .pod("w", 2));
  const auto supply = supply_of(scene);
  ASSERT_TRUE(supply.has_value());
  ASSERT_EQ(supply->residuals.size(), 2U);
  EXPECT_EQ(supply->residuals[ResidualClassIndex(0)].free_devices.size(), 3U);
  EXPECT_EQ(supply->residuals[ResidualClassIndex(1)].free_devices.size(), 4U);
}

TEST(PooledSupply, TakesARunningPodWhereItsFiltersWouldNot) {
  const MasterCase scene(test::Cluster()
                             .at(1000)
                             .node("m", 4, R"("resources":{"cpu":64,"memory":"64Gi"},"unschedulable":true)")
                             .node("n", 4, R"("resources":{"cpu":64,"memory":"64Gi"})")
                             .running("a", "m", 1, kStarted)
                             .pod("w", 2));
  const auto supply = supply_of(scene);
  ASSERT_TRUE(supply.has_value());
  ASSERT_EQ(supply->residuals.size(), 2U);
  const DemandIndex stays = scene.restricted.demand.running[RunningCellIndex(0)].stay;
  EXPECT_EQ(supply->residuals[ResidualClassIndex(0)].demands, std::vector<DemandIndex>{stays});
}

TEST(PooledSupply, IsNoneWherePodsExceedWhatANodeReports) {
  const std::string line = test::Cluster()
                               .at(1000)
                               .node("m", 4, R"("resources":{"cpu":1})")
                               .running("a", "m", 1, R"("started":0,"resources":{"cpu":2})")
                               .pod("w", 2)
                               .line();
  const MasterCase scene(test::Case::of_line(line, test::Oddities::kSettled));
  EXPECT_FALSE(supply_of(scene).has_value());
}

}  // namespace
}  // namespace muster::formulation
