// Bounds by blocks of residual classes, of clusters for which the best can be told at sight. A level `work` counts
// thousandths of a GPU, so a pod of one GPU is worth 1000.
#include "solver/column_generation/block_generation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solver/column_generation/grids.h"
#include "test/solver/master_case.h"
#include "test/support/paths.h"

namespace muster::column_generation {
namespace {

using test::MasterCase;

// Nodes of so many GPUs each.
test::Cluster numbered_nodes(const std::vector<int>& gpus) {
  test::Cluster cluster;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    cluster.node("n" + std::to_string(i), gpus[i], R"("resources":{"cpu":64,"memory":"64Gi"})");
  return cluster;
}

struct Generated {
  Generated(const test::Cluster& cluster, std::size_t most_blocks)
      : scene(cluster),
        work(scene.formulated(LevelKind::kWork)),
        backend(test::program()),
        task{work, 1, test::no_deadline(), 100},
        grids(make_grids(scene.restricted)),
        blocks(make_blocks(scene.restricted, most_blocks)) {}

  Priced price() {
    return price_blocks(scene.restricted, blocks, grids, task, backend, [](const Priced&) { return false; });
  }

  MasterCase scene;
  lp::LinearExpression work;
  cbc::Backend backend;
  PricingTask task;
  std::vector<MultiplierGrid> grids;
  Blocks blocks;
};

TEST(MakeBlocks, HoldEveryRoomOnceAndNeighboursInSizeTogether) {
  const Generated g(numbered_nodes({1, 7, 2, 8, 3, 6}).pods("p", 3, 1), 3);
  ASSERT_EQ(g.blocks.blocks.size(), 3U);
  std::vector<std::vector<std::size_t>> gpus;
  for (const Blocks::Block& block : g.blocks.blocks) {
    gpus.emplace_back();
    for (const formulation::ResidualClassIndex residual : block.residuals)
      gpus.back().push_back(g.scene.restricted.supply.residuals[residual].free_devices.size());
  }
  EXPECT_EQ(gpus, (std::vector<std::vector<std::size_t>>{{1, 2}, {3, 6}, {7, 8}}));
}

void expect_limit(const test::Cluster& cluster, double best) {
  const std::size_t nodes = test::Case(cluster)->nodes.size();
  for (const std::size_t most_blocks : {std::size_t{1}, std::size_t{2}, nodes}) {
    Generated g(cluster, most_blocks);
    const Priced priced = g.price();
    EXPECT_GE(priced.dual_bound, best) << most_blocks << " blocks: a bound that is false";
    EXPECT_LE(priced.dual_bound, best + 1) << most_blocks << " blocks";
    EXPECT_LE(priced.value, best + 1);
  }
}

// Each node of three GPUs holds one pod of two, though 6 GPUs in total would hold three of them.
TEST(PriceBlocks, KnowThatWholeDevicesOfANodeAreNotDivided) {
  expect_limit(numbered_nodes({3, 3, 1}).pods("p", 4, 2), 4000);
}

// One pod of 0.6 on each of three devices.
TEST(PriceBlocks, KnowThatADeviceIsNotSharedBeyondItsEnd) {
  expect_limit(numbered_nodes({1, 2}).pods("p", 5, R"("gpu":{"fraction":0.6})"), 1800);
}

TEST(PriceBlocks, CountNoMoreThanThereIs) { expect_limit(numbered_nodes({4, 5, 6}).pods("p", 7, 1), 7000); }

// The relaxed node of 24 cores holds half a pod of 16 beside a whole one; its configurations do not.
TEST(PriceBlocks, GoOnByRoomsWhereGridsFindNothingMore) {
  test::Cluster cluster;
  for (const char* name : {"a", "b", "c"}) cluster.node(name, 2, R"("resources":{"cpu":24,"memory":"64Gi"})");
  Generated g(cluster.pods("p", 9, 1, R"("resources":{"cpu":16})"), 2);
  EXPECT_FALSE(g.blocks.is_by_residuals);
  const Priced priced = g.price();
  EXPECT_TRUE(g.blocks.is_by_residuals);
  EXPECT_GE(priced.dual_bound, 3000);
  EXPECT_NEAR(priced.value, 3000, 1);
}

// Ten nodes alike, and a node of another kind, of which there are no columns.
struct Dealt : Generated {
  Dealt() : Generated(numbered_nodes({2, 2, 2, 2, 2, 2, 2, 2, 2, 2}).pods("p", 9, 1), 1) {
    const formulation::ResidualClassIndex residual(0);
    scene.restricted.pool.add(residual,
                              {{{formulation::DemandIndex(0), {0}, -1}}, {{formulation::DemandIndex(0), 1}}, {}, 0});
    scene.restricted.pool.add(residual,
                              {{{formulation::DemandIndex(0), {0}, -1}, {formulation::DemandIndex(0), {1}, -1}},
                               {{formulation::DemandIndex(0), 2}},
                               {},
                               0});
    blocks.blocks = {{{residual}, {}}};
  }
  std::vector<std::pair<std::size_t, std::int64_t>> dealt(const std::vector<std::pair<std::uint32_t, double>>& shares) {
    for (const auto& [choice, share] : shares) blocks.blocks[0].columns.push_back({{choice}, share});
    const std::vector<double> x(static_cast<std::size_t>(scene.restricted.formulation->model().columns()), 0.0);
    return disaggregate(scene.restricted, blocks, x).configurations.at(0);
  }
};

using Chosen = std::vector<std::pair<std::size_t, std::int64_t>>;

// Of ten nodes three in ten get the first configuration, seven in ten the second.
TEST(DealBlocks, GiveEachColumnAsManyNodesAsItsShareSays) {
  EXPECT_EQ(Dealt().dealt({{0, 0.3}, {1, 0.7}}), (Chosen{{0, 3}, {1, 7}}));
  EXPECT_EQ(Dealt().dealt({{1, 1.0}}), (Chosen{{1, 10}}));
}

TEST(DealBlocks, LeaveNodesAloneForWhichNothingIsChosen) {
  EXPECT_EQ(Dealt().dealt({{0, 0.5}, {Blocks::kEmpty, 0.5}}), (Chosen{{0, 5}}));
  EXPECT_EQ(Dealt().dealt({}), Chosen{});
}

}  // namespace
}  // namespace muster::column_generation
