// Aggregate prices of the cluster. A level `work` counts thousandths of a GPU, so a pod of one GPU is worth 1000.
#include "solver/column_generation/aggregate.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solver/column_generation/demand_side.h"
#include "test/solver/master_case.h"
#include "test/support/paths.h"

namespace muster::column_generation {
namespace {

using test::MasterCase;
using test::nodes_with;

struct Prices {
  explicit Prices(const test::Cluster& cluster)
      : scene(cluster),
        work(scene.formulated(LevelKind::kWork)),
        backend(test::program()),
        task{work, 1, test::no_deadline(), 100} {}

  // The price of one pod of that name, in a residual class that it fits into.
  double of(const std::string& pod, const std::vector<double>& price) const {
    const PodClassIndex wanted = scene.cluster->pods[scene.pod(pod)].pod_class;
    for (const formulation::ResidualClassIndex residual : scene.restricted.supply.residuals.indices())
      for (const formulation::DemandIndex d : scene.restricted.supply.residuals[residual].demands)
        if (scene.restricted.demand.classes[d].pod_class == wanted)
          return price[static_cast<std::size_t>(scene.restricted.formulation->supply_row(d, residual))];
    return -1;
  }
  // By demand class, each the same.
  std::vector<double> all_pods(double price) const {
    return std::vector<double>(scene.restricted.demand.classes.size(), price);
  }

  MasterCase scene;
  lp::LinearExpression work;
  cbc::Backend backend;
  PricingTask task;
};

// Three pods for two GPUs: one more GPU would be worth what a pod is.
TEST(PricesInSum, AreWhatAPodIsWorthWhereDevicesAreScarce) {
  Prices prices(nodes_with({{"a", 1}, {"b", 1}}).pods("p", 3, 1));
  const std::vector<double> price = aggregate_prices(prices.scene.restricted, prices.task, prices.backend).price;
  EXPECT_NEAR(prices.of("p-0", price), 1000, 1e-6);
}

// Two of three pods find a GPU, and both others a core.
TEST(PricesInSum, TellWhatIsPlaced) {
  Prices prices(nodes_with({{"a", 1}, {"b", 1}}).pods("p", 3, 1).pods("c", 2, R"("resources":{"cpu":1})"));
  const std::vector<double> asked = aggregate_prices(prices.scene.restricted, prices.task, prices.backend).asked;
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_NEAR(asked[0] + asked[1], 4, 1e-6);
  EXPECT_NEAR(asked[0], 2, 1e-6);
}

// Devices are scarce for pods that take all of one; the cores that others ask for are not.
TEST(PricesInSum, AreNothingForPodsThatFindRoomAnyway) {
  Prices prices(nodes_with({{"a", 1}, {"b", 1}}).pods("p", 5, 1).pods("c", 2, R"("resources":{"cpu":1})"));
  const std::vector<double> price = aggregate_prices(prices.scene.restricted, prices.task, prices.backend).price;
  EXPECT_NEAR(prices.of("p-0", price), 1000, 1e-6);
  EXPECT_NEAR(prices.of("c-0", price), 0, 1e-6);
}

// 19 halves of ten GPUs: all fit, so nothing is scarce. Nine tenths of the GPUs are nine, which are half a GPU short.
TEST(PricesInSum, ComeFromSmallerSumsWhereAllFits) {
  Prices prices(nodes_with({{"a", 5}, {"b", 5}}).pods("p", 19, R"("gpu":{"fraction":0.5})"));
  const std::vector<double> price = aggregate_prices(prices.scene.restricted, prices.task, prices.backend).price;
  EXPECT_NEAR(prices.of("p-0", price), 500, 1e-6);
}

// A pod may be bought: what is cheaper than it is worth is bought, and costs that; no pod pays more than it costs.
TEST(PricesOfPods, AreThoseThatAreKnown) {
  Prices prices(nodes_with({{"a", 1}, {"b", 1}}).pods("p", 3, 1));
  const auto price_at = [&](double known) {
    return prices.of("p-0",
                     prices_of_pods(prices.scene.restricted, prices.task, prices.all_pods(known), prices.backend));
  };
  EXPECT_NEAR(price_at(400), 400, 1e-6);
  EXPECT_NEAR(price_at(0), 0, 1e-6);
  EXPECT_GE(price_at(1500), 1000 - 1e-6);
  EXPECT_LE(price_at(1500), 1500 + 1e-6);
}

TEST(PricesOfPods, AreOfAllRows) {
  Prices prices(nodes_with({{"a", 1}}).pods("p", 3, 1));
  EXPECT_EQ(prices_of_pods(prices.scene.restricted, prices.task, prices.all_pods(400), prices.backend).size(),
            static_cast<std::size_t>(prices.scene.restricted.formulation->model().rows()));
}

// --- What is left of the model without its supply

// With a limit on the queue, whose row comes after those of the residual classes.
struct Sides : Prices {
  Sides()
      : Prices(nodes_with({{"a", 2}, {"b", 4}})
                   .pods("p", 9, 1, R"("queue":"q")")
                   .with(R"("queues":[{"name":"q","gpu":{"limit":4}}])")) {
    for (const formulation::ResidualClassIndex residual : scene.restricted.supply.residuals.indices())
      scene.restricted.pool.add(residual,
                                {{{formulation::DemandIndex(0), {0}, -1}}, {{formulation::DemandIndex(0), 1}}, {}, 0});
    scene.restricted.add_new_columns();
  }
};

TEST(DemandSide, LeavesOutConfigurationsAndTheRowsOfTheirRooms) {
  const Sides sides;
  const DemandSide side(sides.scene.restricted, sides.task);
  EXPECT_EQ(side.milp.rows(), side.whole.rows() - 2) << "two classes of rooms";
  EXPECT_EQ(side.milp.columns(), side.whole.columns() - 2) << "one configuration of each";
  for (const formulation::ResidualClassIndex residual : sides.scene.restricted.supply.residuals.indices())
    EXPECT_EQ(side.row_of(sides.scene.restricted.formulation->capacity_row(residual)), -1);
  for (std::size_t j = 0; j < side.columns.size(); ++j) {
    EXPECT_FALSE(side.is_configuration[side.columns[j]]);
    EXPECT_EQ(side.milp.objective[j], side.whole.objective[side.columns[j]]);
    EXPECT_EQ(side.milp.upper[j], side.whole.upper[side.columns[j]]);
  }
}

TEST(DemandSide, KeepsEveryEntryOfWhatIsLeft) {
  const Sides sides;
  const DemandSide side(sides.scene.restricted, sides.task);
  for (std::size_t j = 0; j < side.columns.size(); ++j) {
    const std::size_t whole = side.columns[j];
    std::vector<double> found(static_cast<std::size_t>(side.milp.rows())), expected = found;
    for (auto e = side.milp.column_begin[j]; e < side.milp.column_begin[j + 1]; ++e)
      found[static_cast<std::size_t>(side.milp.entry_row[static_cast<std::size_t>(e)])] +=
          side.milp.entry_value[static_cast<std::size_t>(e)];
    for (auto e = side.whole.column_begin[whole]; e < side.whole.column_begin[whole + 1]; ++e) {
      const std::int32_t row = side.row_of(side.whole.entry_row[static_cast<std::size_t>(e)]);
      if (row >= 0) expected[static_cast<std::size_t>(row)] += side.whole.entry_value[static_cast<std::size_t>(e)];
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(DemandSide, TellsPricesByRowsOfTheWhole) {
  const Sides sides;
  const DemandSide side(sides.scene.restricted, sides.task);
  std::vector<double> price;
  for (std::int32_t row = 0; row < side.milp.rows(); ++row) price.push_back(row + 1);
  price.push_back(99);  // of a further row
  const formulation::ResidualClassIndex last(sides.scene.restricted.supply.residuals.size() - 1);
  ASSERT_GT(side.whole.rows() - 1, sides.scene.restricted.formulation->capacity_row(last))
      << "some row changes its place";
  const std::vector<double> whole = side.whole_prices(price);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(side.whole.rows()));
  for (std::size_t row = 0; row < whole.size(); ++row)
    EXPECT_EQ(whole[row], side.row_of(static_cast<std::int32_t>(row)) + 1) << "-1 + 1: no price";
}

}  // namespace
}  // namespace muster::column_generation
