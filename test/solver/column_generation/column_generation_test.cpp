// Bounds by column generation, of clusters for which the best can be told at sight. A level `work` counts thousandths
// of a GPU, so a pod of one GPU is worth 1000.
#include "solver/column_generation/column_generation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/master_case.h"
#include "test/support/paths.h"

namespace muster::column_generation {
namespace {

using test::MasterCase;
using test::nodes_with;

// maximise 3x + 2y, x + y <= 4, x >= 1, both in 0..3; a column that is a configuration, which pricing proposes.
lp::Milp small_lp() {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 4);
  milp.add_row(1, lp::kInfinity);
  milp.add_column({3, 0, 3, false}, {{0, 1}, {1, 1}});
  milp.add_column({2, 0, 3, false}, {{0, 1}});
  milp.add_column({50, 0, 9, false}, {{0, 1}});
  return milp;
}
const std::vector<bool> kThirdIsConfiguration = {false, false, true};

// The optimum is x = 3, y = 1: 11; the first row's price is 2. 2 x 4 + (3 - 2) x 3 + (2 - 2) x 3 = 11.
TEST(BoundOfPrices, IsTheOptimumAtTheOptimalPrices) {
  std::vector<double> price = {2, 0};
  EXPECT_DOUBLE_EQ(bound_of_prices(small_lp(), kThirdIsConfiguration, price), 11);
}

// At 0 every column is worth all of its objective: 3 x 3 + 2 x 3 = 15. At 5 none is: 5 x 4 + (3 - 5) x 0 = 20.
TEST(BoundOfPrices, HoldsAtAnyPrices) {
  std::vector<double> none = {0, 0}, high = {5, 0};
  EXPECT_DOUBLE_EQ(bound_of_prices(small_lp(), kThirdIsConfiguration, none), 15);
  EXPECT_DOUBLE_EQ(bound_of_prices(small_lp(), kThirdIsConfiguration, high), 20);
}

// A price below 0 asks for the lower side: of the first row there is none, so its price becomes 0; of the second it is
// 1: -1 x 1 + (3 + 1) x 3 + 2 x 3 = 17.
TEST(BoundOfPrices, TakesPricesOfTheWrongSignForNone) {
  std::vector<double> price = {-4, -1};
  EXPECT_DOUBLE_EQ(bound_of_prices(small_lp(), kThirdIsConfiguration, price), 17);
  EXPECT_EQ(price, (std::vector<double>{0, -1}));
  std::vector<double> above = {0, 3};
  bound_of_prices(small_lp(), kThirdIsConfiguration, above);
  EXPECT_EQ(above[1], 0) << "the second row has no upper side";
}

TEST(Between, IsThatPartOfTheCenter) { EXPECT_EQ(between({10, 0}, {20, 8}, 0.25), (std::vector<double>{17.5, 6})); }

// What column generation says of the level `work`, and what it is known to be at most.
void expect_limit(const test::Cluster& cluster, double best) {
  MasterCase scene(cluster);
  const lp::LinearExpression work = scene.formulated(LevelKind::kWork);
  cbc::Backend backend(test::program());
  const Priced priced = price_columns(scene.restricted, {work, 1, test::no_deadline(), 100}, backend);
  const auto constant = static_cast<double>(work.constant);
  EXPECT_EQ(priced.defect, "");
  EXPECT_GE(priced.dual_bound + constant, best) << "a bound that is false";
  EXPECT_LE(priced.dual_bound + constant, best + 1);
  EXPECT_LE(priced.value, priced.dual_bound + 0.01);
  EXPECT_GE(priced.value + constant, best - 1);
}

// Three GPUs hold one pod of two, although two pods need only four thirds of a node in total.
TEST(PriceColumns, KnowsThatWholeDevicesOfANodeAreNotDivided) {
  expect_limit(nodes_with({{"n", 3}}).pods("p", 2, 2), 2000);
}

// Of pods of 0.6 one fits on a device: two of the three on two nodes of one GPU.
TEST(PriceColumns, KnowsThatADeviceIsNotSharedBeyondItsEnd) {
  expect_limit(nodes_with({{"a", 1}, {"b", 1}}).pods("p", 3, R"("gpu":{"fraction":0.6})"), 1200);
}

// Nodes of 3, 3 and 2 GPUs: each takes one pod of two, and the two GPUs that are left over one of one each.
TEST(PriceColumns, MixesPodsOnNodes) {
  expect_limit(nodes_with({{"a", 3}, {"b", 3}, {"c", 2}}).pods("two", 4, 2).pods("one", 3, 1), 8000);
}

// There is more room than pods: all of them, 3 x 1000 + 500.
TEST(PriceColumns, CountsNoMoreThanThereIs) {
  expect_limit(nodes_with({{"a", 8}}).pods("p", 3, 1).pods("s", 1, R"("gpu":{"fraction":0.5})"), 3500);
}

// The queue may use two GPUs of eight.
TEST(PriceColumns, KeepsToTheLimitOfAQueue) {
  expect_limit(
      nodes_with({{"a", 8}}).pods("p", 5, 1, R"("queue":"q")").with(R"("queues":[{"name":"q","gpu":{"limit":2}}])"),
      2000);
}

// Two gangs of different kinds that need two GPUs each, and three GPUs: the relaxation admits one and a half.
struct TwoGangs {
  TwoGangs()
      : scene(nodes_with({{"n", 3}})
                  .pods("g", 2, 1, R"("gang":"g")")
                  .pods("h", 2, 1, R"("gang":"h","resources":{"cpu":1})")
                  .with(R"("gangs":[{"name":"g","minMember":2},{"name":"h","minMember":2}])")),
        work(scene.formulated(LevelKind::kWork)),
        backend(test::program()),
        task{work, 1, test::no_deadline(), 100},
        priced(price_columns(scene.restricted, task, backend)) {}
  MasterCase scene;
  lp::LinearExpression work;
  cbc::Backend backend;
  PricingTask task;
  Priced priced;
};

TEST(PriceColumns, AdmitsGangsInPart) {
  const TwoGangs gangs;
  EXPECT_NEAR(gangs.priced.dual_bound, 3000, 1);
}

TEST(RestrictedMaster, HasNoFormulationWhereThereIsNoTimeForIt) {
  // Each pod is a gang of its own kind, so that there are more rows and columns than the builder's steps between two
  // looks at the clock.
  test::Cluster cluster = nodes_with({{"n", 1}});
  for (int i = 0; i < 600; ++i)
    cluster.pod("p" + std::to_string(i), R"("resources":{"cpu":")" + std::to_string(100 + i) + R"(m"})");
  MasterCase scene(cluster);
  EXPECT_FALSE(scene.restricted.formulate(false, {Deadline::Clock::now() - std::chrono::seconds(1), false}));
  EXPECT_FALSE(scene.restricted.formulation);
  EXPECT_TRUE(scene.restricted.formulate(false, test::no_deadline()));
  EXPECT_TRUE(scene.restricted.formulation);
}

}  // namespace
}  // namespace muster::column_generation
