// Bounds and plans on grids of multipliers, of clusters for which the best can be told at sight. A level `work` counts
// thousandths of a GPU, so a pod of one GPU is worth 1000.
#include "solver/column_generation/grid_generation.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/base/tuning.h"
#include "solver/column_generation/aggregate.h"
#include "solver/column_generation/grid_fill.h"
#include "solver/column_generation/grids.h"
#include "test/solver/master_case.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::column_generation {
namespace {

using test::MasterCase;

test::Cluster numbered_nodes(const std::vector<int>& gpus, int cores = 64) {
  test::Cluster cluster;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    cluster.node("n" + std::to_string(i), gpus[i],
                 R"("resources":{"memory":"64Gi","cpu":)" + std::to_string(cores) + "}");
  return cluster;
}

struct OnGrids {
  explicit OnGrids(const test::Cluster& cluster)
      : scene(cluster),
        work(scene.formulated(LevelKind::kWork)),
        backend(test::program()),
        task{work, 1, test::no_deadline(), 2},
        grids(make_grids(scene.restricted)) {}

  GridPrices price() {
    return price_on_grids(scene.restricted, grids, task, backend, [](const GridPrices&) { return false; });
  }
  // By DemandIndex.
  std::vector<std::int64_t> filled(const std::vector<double>& asked) {
    std::vector<std::int64_t> pods(scene.restricted.demand.classes.size(), 0);
    const ChosenConfigurations chosen =
        fill_on_grids(scene.restricted, grids, task, scene.restricted.stability_center, asked);
    for (const formulation::ResidualClassIndex residual : scene.restricted.supply.residuals.indices())
      for (const auto& [position, nodes] : chosen[residual.value()])
        for (const auto& [demand, count] : scene.restricted.pool.configurations()[residual][position].counts)
          pods[demand.value()] += nodes * count;
    return pods;
  }

  MasterCase scene;
  lp::LinearExpression work;
  cbc::Backend backend;
  PricingTask task;
  std::vector<MultiplierGrid> grids;
};

void expect_bound(const test::Cluster& cluster, double best) {
  OnGrids on(cluster);
  const GridPrices priced = on.price();
  EXPECT_EQ(priced.defect, "");
  EXPECT_GE(priced.dual_bound, best) << "a bound that is false";
  EXPECT_LE(priced.dual_bound, best * 1.002 + 1);
  EXPECT_LE(priced.value, priced.dual_bound + 1);
}

// Each node of three GPUs holds one pod of two, though 6 GPUs in total would hold three of them.
TEST(PriceOnGrids, KnowsThatWholeDevicesOfANodeAreNotDivided) {
  expect_bound(numbered_nodes({3, 3, 1}).pods("p", 4, 2), 2000 * 2);
}

// One pod of 0.6 on each of three devices.
TEST(PriceOnGrids, KnowsThatADeviceIsNotSharedBeyondItsEnd) {
  expect_bound(numbered_nodes({1, 2}).pods("p", 5, R"("gpu":{"fraction":0.6})"), 1800);
}

TEST(PriceOnGrids, CountsNoMoreThanThereIs) { expect_bound(numbered_nodes({4, 5, 6}).pods("p", 7, 1), 7000); }

// Of 24 cores on each node, two pods of a GPU take all.
TEST(PriceOnGrids, KnowsThatCoresOfANodeAreNotDivided) {
  expect_bound(numbered_nodes({4, 4, 4}, 24).pods("p", 12, 1, R"("resources":{"cpu":12})"), 6000);
}

// Pods that ask for neither a device nor a core are limited by their number alone.
TEST(PriceOnGrids, BoundsPodsThatAskForNothing) {
  OnGrids on(numbered_nodes({2, 3}).pods("p", 9, 1).pods("none", 4));
  EXPECT_GE(on.price().dual_bound, 5000);
}

// So many residual classes that prices are found on a part of them. What was estimated from this part must not stay in
// the master: it would place more than there is room for, by more than the mixtures of contents do (0.16 % here), and
// end the search.
TEST(PriceOnGrids, TakesNoEstimateForAContent) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    const auto from = [&](int least, int most) {
      return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
    };
    test::Cluster cluster;
    for (std::size_t i = 0; i < 3 * kTuning.generation.grid.sampled; ++i)
      cluster.node("n" + std::to_string(i), from(1, 8),
                   R"("resources":{"memory":"64Gi","cpu":")" + std::to_string(from(2'000, 99'999)) + R"(m"})");
    for (int i = 0; i < 12; ++i)
      cluster.pods("p" + std::to_string(i), 2'000, from(1, 5),
                   R"("resources":{"cpu":)" + std::to_string(from(1, 24)) + "}");
    OnGrids on(cluster);
    const GridPrices priced = on.price();
    EXPECT_EQ(priced.defect, "");
    EXPECT_LE(priced.value, priced.dual_bound * (1 + kTuning.generation.grid.gap)) << "seed " << seed;
    EXPECT_LE(priced.dual_bound, priced.value * 1.005) << "seed " << seed;
  }
}

TEST(PriceOnGrids, AsksForWhatItPlaces) {
  OnGrids on(numbered_nodes({4, 5, 6}).pods("p", 20, 1));
  const GridPrices priced = on.price();
  ASSERT_EQ(priced.asked.size(), 1U);
  EXPECT_NEAR(priced.asked[0], 15, 0.02);
}

TEST(MakeGrids, HoldEveryRoomOnceWithRoomsOfItsKind) {
  const OnGrids on(numbered_nodes({1, 7, 2})
                       .node("t", 4, R"("taints":[{"key":"k","effect":"NoSchedule"}])")
                       .pods("p", 9, 1, R"("tolerations":[{"key":"k","operator":"Exists"}])")
                       .pods("q", 9, 1));
  std::vector<std::size_t> residuals;
  for (const MultiplierGrid& grid : on.grids) residuals.push_back(grid.residuals().size());
  std::ranges::sort(residuals);
  EXPECT_EQ(residuals, (std::vector<std::size_t>{1, 3}));
}

// 16 GPUs for eighty pods of one and sixteen of four: none is left idle.
TEST(FillOnGrids, PlacesWhatIsAskedFor) {
  OnGrids on(numbered_nodes({8, 4, 4}).pods("one", 80, 1).pods("four", 16, 4));
  const GridPrices priced = on.price();
  const std::vector<std::int64_t> pods = on.filled(priced.asked);
  std::int64_t gpus = 0;
  for (const formulation::DemandIndex d : on.scene.restricted.demand.classes.indices())
    gpus +=
        pods[d.value()] * on.scene.cluster->pod_classes[on.scene.restricted.demand.classes[d].pod_class].gpu.devices;
  EXPECT_EQ(gpus, 16);
}

TEST(FillOnGrids, EndsAtTheDeadline) {
  OnGrids on(numbered_nodes({8, 4, 4}).pods("one", 20, 1));
  const GridPrices priced = on.price();
  on.task.deadline = Deadline(Deadline::Clock::now() - std::chrono::seconds(1), false);
  EXPECT_TRUE(fill_on_grids(on.scene.restricted, on.grids, on.task, on.scene.restricted.stability_center, priced.asked)
                  .empty());
}

struct OnRandomGrids {
  explicit OnRandomGrids(MasterCase& scene, cbc::Backend& backend)
      : scene(scene),
        work(scene.formulated(LevelKind::kWork)),
        grids(make_grids(scene.restricted)),
        priced(price_on_grids(scene.restricted, grids, task, backend, [](const auto&) { return false; })) {}
  // Nothing if there are too many.
  std::optional<std::vector<formulation::Configuration>> all_of(formulation::ResidualClassIndex residual) const {
    std::size_t states = 3000;
    return formulation::enumerate_configurations(scene.restricted.configuration_input,
                                                 scene.restricted.supply.residuals[residual], states);
  }

  MasterCase& scene;
  lp::LinearExpression work;
  PricingTask task{work, 1, test::no_deadline(), 2};
  std::vector<MultiplierGrid> grids;
  GridPrices priced;
};

// Random clusters, with anti-affinity, taints and all kinds of devices.
void for_each_priced(const std::function<void(OnRandomGrids&)>& check) {
  cbc::Backend backend(test::program());
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    MasterCase scene(test::any_cluster(seed));
    SCOPED_TRACE(scene.cluster.line());
    if (!scene.restricted.demand.running.empty() || scene.restricted.demand.classes.empty()) continue;
    OnRandomGrids on(scene, backend);
    if (!on.grids.empty() && !scene.restricted.stability_center.empty()) check(on);
    if (testing::Test::HasFailure()) return;
  }
}

bool is_among(const std::vector<formulation::Configuration>& all, const formulation::Configuration& found) {
  return std::ranges::any_of(all,
                             [&](const formulation::Configuration& known) { return known.counts == found.counts; });
}

TEST(FillOnGrids, FillsWithConfigurationsThatFit) {
  std::int64_t pods = 0;
  for_each_priced([&](OnRandomGrids& on) {
    RestrictedMaster& restricted = on.scene.restricted;
    const ChosenConfigurations chosen =
        fill_on_grids(restricted, on.grids, on.task, restricted.stability_center, on.priced.asked);
    std::vector<std::int64_t> placed(restricted.demand.classes.size(), 0);
    for (const formulation::ResidualClassIndex residual : restricted.supply.residuals.indices())
      for (const auto& [position, nodes] : chosen[residual.value()]) {
        const formulation::Configuration& found = restricted.pool.configurations()[residual][position];
        const auto all = on.all_of(residual);
        EXPECT_TRUE(!all || is_among(*all, found));
        for (const auto& [demand, count] : found.counts) placed[demand.value()] += nodes * count;
      }
    for (const formulation::DemandIndex d : restricted.demand.classes.indices())
      EXPECT_LE(placed[d.value()], restricted.demand.classes[d].count);
    pods += std::accumulate(placed.begin(), placed.end(), std::int64_t{0});
  });
  EXPECT_GE(pods, 300);
}

// What is found of a residual class fits, is worth no more than its bound, and all in all nearly as much as the best
// that fits.
TEST(ContentsOnGrids, FitAndAreNearlyTheBest) {
  double best_of_all = 0, found_of_all = 0;
  for_each_priced([&](OnRandomGrids& on) {
    RestrictedMaster& restricted = on.scene.restricted;
    const Indexed<formulation::ResidualClassIndex, bool> wanted(restricted.supply.residuals.size(), true);
    const ResidualContents contents =
        contents_on_grids(restricted, on.grids, on.task, restricted.stability_center, wanted);
    for (const MultiplierGrid& grid : on.grids) {
      const std::vector<double> price = pod_prices(restricted, grid, restricted.stability_center);
      const auto reduced_profit = [&](const formulation::Configuration& configuration) {
        double worth = 0;
        for (const auto& [demand, count] : configuration.counts) worth += price[demand.value()] * count;
        return worth;
      };
      for (const formulation::ResidualClassIndex residual : grid.residuals()) {
        const auto all = on.all_of(residual);
        if (!all) continue;
        EXPECT_TRUE(is_among(*all, contents[residual].configuration));
        double best = 0;
        for (const formulation::Configuration& known : *all) best = std::max(best, reduced_profit(known));
        EXPECT_LE(best, contents[residual].dual_bound * (1 + 1e-9));
        best_of_all += best;
        found_of_all += reduced_profit(contents[residual].configuration);
      }
    }
  });
  EXPECT_GE(found_of_all, 0.9 * best_of_all);
  EXPECT_GT(best_of_all, 0);
}

TEST(ContentsOnGrids, AreOfTheWantedRooms) {
  OnGrids on(numbered_nodes({4, 5, 6}).pods("p", 20, 1));
  on.price();
  Indexed<formulation::ResidualClassIndex, bool> wanted(on.scene.restricted.supply.residuals.size(), false);
  wanted[formulation::ResidualClassIndex(1)] = true;
  const ResidualContents contents =
      contents_on_grids(on.scene.restricted, on.grids, on.task, on.scene.restricted.stability_center, wanted);
  for (const formulation::ResidualClassIndex residual : on.scene.restricted.supply.residuals.indices())
    EXPECT_EQ(contents[residual].configuration.steps.empty(), residual != formulation::ResidualClassIndex(1));
}

}  // namespace
}  // namespace muster::column_generation
