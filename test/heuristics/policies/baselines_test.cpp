// The orders of others, and that the referee passes what comes of them.
#include "heuristics/policies/baselines.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "test/support/plan.h"

namespace muster::policies {
namespace {

using test::Case;

// Names of the pods that the plan places, once it has been checked.
std::set<std::string> placed(const Case& cluster, const Plan& plan) {
  test::expect_legal(cluster, plan);
  return test::placed_pods(cluster, plan);
}

test::Cluster one_node() { return test::Cluster().node("n0", 4); }

using Names = std::set<std::string>;

constexpr const char* kQuotaOfTwo = R"("gpu":{"quota":2})";

test::Cluster three_in_line() {
  return one_node()
      .pod("late", 1, R"("created":30)")
      .pod("first", 2, R"("created":10)")
      .pod("big", 3, R"("created":20,"priority":50)");
}

TEST(Fifo, StopsAtTheFirstThatDoesNotFit) {
  const Case cluster(three_in_line());
  EXPECT_EQ(placed(cluster, solve_fifo(*cluster, cluster.shares(), FifoRule::kStrict)), Names{"first"});
}

TEST(Fifo, PassesOverItWhereItMayBackfill) {
  const Case cluster(three_in_line());
  EXPECT_EQ(placed(cluster, solve_fifo(*cluster, cluster.shares(), FifoRule::kBackfill)), (Names{"first", "late"}));
}

TEST(Fifo, OneQueueDoesNotStopAnother) {
  const Case cluster(one_node()
                         .queue("a")
                         .queue("b")
                         .pod("a0", 5, R"("queue":"a","created":1)")
                         .pod("a1", 1, R"("queue":"a","created":2)")
                         .pod("b0", 1, R"("queue":"b","created":3)"));
  EXPECT_EQ(placed(cluster, solve_fifo(*cluster, cluster.shares(), FifoRule::kStrict)), Names{"b0"});
}

TEST(Fifo, PutsPodsWhereTheyFillBest) {
  const Case cluster(test::Cluster().node("n0", 8).node("n1", 4).pod("p", 3));
  const Plan plan = solve_fifo(*cluster, cluster.shares(), FifoRule::kStrict);
  ASSERT_EQ(plan.placements.size(), 1U);
  EXPECT_EQ(plan.placements[0].node, NodeIndex(1));
}

TEST(KaiOrder, TakesTheHigherPriorityOfAQueueThenTheOlder) {
  const Case cluster(one_node()
                         .pod("old", 2, R"("created":10)")
                         .pod("older", 2, R"("created":5)")
                         .pod("urgent", 2, R"("created":20,"priority":50)"));
  EXPECT_EQ(placed(cluster, solve_in_kai_order(*cluster, cluster.shares())), (Names{"older", "urgent"}));
}

TEST(KaiOrder, TurnsToTheQueueFurthestBelowItsShare) {
  test::Cluster text = one_node().queue("a", kQuotaOfTwo).queue("b", kQuotaOfTwo);
  for (int i = 0; i < 4; ++i) text.pod("a" + std::to_string(i), 1, R"("queue":"a","created":)" + std::to_string(1 + i));
  const Case cluster(text.pod("b0", 1, R"("queue":"b","created":5)").pod("b1", 1, R"("queue":"b","created":6)"));
  EXPECT_EQ(placed(cluster, solve_in_kai_order(*cluster, cluster.shares())), (Names{"a0", "a1", "b0", "b1"}));
}

TEST(KaiOrder, ReclaimsForAQueueBelowItsShare) {
  const Case cluster(one_node()
                         .queue("a", kQuotaOfTwo)
                         .queue("b", kQuotaOfTwo)
                         .pods("a", 4, 1, R"("queue":"a","node":"n0")")
                         .pod("b0", 1, R"("queue":"b","created":5)"));
  const Plan plan = solve_in_kai_order(*cluster, cluster.shares());
  EXPECT_EQ(placed(cluster, plan), Names{"b0"});
  ASSERT_EQ(plan.evictions.size(), 1U);
  EXPECT_EQ(plan.evictions[0].reason, EvictionReason::kReclaim);
}

TEST(Baselines, KeepEveryRuleOnClustersWithSomeOfEveryFeature) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    generator::GeneratorOptions options = *generator::generator_preset("full");
    options.cluster.nodes = 30;
    options.seed = seed;
    const Case cluster = Case::of_line(generator::generate_snapshot(options));
    placed(cluster, solve_fifo(*cluster, cluster.shares(), FifoRule::kStrict));
    placed(cluster, solve_fifo(*cluster, cluster.shares(), FifoRule::kBackfill));
    placed(cluster, solve_in_kai_order(*cluster, cluster.shares()));
    placed(cluster, solve_easy(*cluster, cluster.shares()));
    placed(cluster, solve_shortest_first(*cluster, cluster.shares()));
  }
}

}  // namespace
}  // namespace muster::policies
