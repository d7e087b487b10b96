#include "solver/column_generation/price_memory.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"

namespace muster::column_generation {
namespace {

using test::Case;
using test::ExactFormulation;

// One node, and the given number of pods of each size in thousandths of a core.
Case cluster_of(const std::vector<std::pair<int, int>>& pods) {
  test::Cluster cluster;
  cluster.node("n", R"("resources":{"cpu":8})");
  for (const auto& [size, count] : pods) {
    const std::string milli = std::to_string(size);
    cluster.pods("p" + milli, count, R"("resources":{"cpu":")" + milli + R"(m"})");
  }
  return Case(cluster);
}

constexpr LevelId kFirst{LevelKind::kShare, 0}, kOther{LevelKind::kSeniority, 0};

TEST(PriceMemory, KnowsNothingAtFirst) {
  const Case cluster = cluster_of({{1000, 2}});
  const ExactFormulation f(cluster);
  EXPECT_TRUE(PriceMemory().recall(f.problem, f.demand, kFirst).empty());
}

TEST(PriceMemory, RecallsKindsOfPodsWhateverTheirOrder) {
  const Case before = cluster_of({{1000, 2}, {2000, 3}}), after = cluster_of({{2000, 1}, {1000, 7}});
  const ExactFormulation f(before), g(after);
  const auto price_of = [](const ExactFormulation& formulation, formulation::DemandIndex d) {
    return static_cast<double>(formulation.problem.pod_classes[formulation.demand.classes[d].pod_class].request[0]);
  };
  std::vector<double> prices, expected;
  for (formulation::DemandIndex d : f.demand.classes.indices()) prices.push_back(price_of(f, d));
  for (formulation::DemandIndex d : g.demand.classes.indices()) expected.push_back(price_of(g, d));
  PriceMemory memory;
  memory.keep(f.problem, f.demand, kFirst, prices);
  EXPECT_EQ(memory.recall(g.problem, g.demand, kFirst), expected);
  EXPECT_TRUE(memory.recall(g.problem, g.demand, kOther).empty());
}

TEST(PriceMemory, RecallsNothingWhereMuchIsNew) {
  const Case before = cluster_of({{1000, 5}}), nearly = cluster_of({{1000, 39}, {3000, 1}}),
             other = cluster_of({{1000, 5}, {3000, 5}});
  const ExactFormulation f(before), g(nearly), h(other);
  PriceMemory memory;
  memory.keep(f.problem, f.demand, kFirst, {4.0});
  const std::vector<double> known = memory.recall(g.problem, g.demand, kFirst);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0] + known[1], 4.0);
  EXPECT_TRUE(memory.recall(h.problem, h.demand, kFirst).empty());
}

TEST(PriceMemory, KeepsTheLastCycleAlone) {
  const Case first = cluster_of({{1000, 5}}), second = cluster_of({{2000, 5}});
  const ExactFormulation f(first), g(second);
  PriceMemory memory;
  memory.keep(f.problem, f.demand, kFirst, {4.0});
  memory.keep(g.problem, g.demand, kFirst, {9.0});
  EXPECT_TRUE(memory.recall(f.problem, f.demand, kFirst).empty());
  EXPECT_EQ(memory.recall(g.problem, g.demand, kFirst), std::vector<double>{9.0});
}

}  // namespace
}  // namespace muster::column_generation
