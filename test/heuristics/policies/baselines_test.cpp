// The orders of others, and that the referee passes what comes of them.
#include "heuristics/policies/baselines.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "io/muster_v1/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/referee/referee.h"
#include "test/support/cluster_text.h"

namespace muster::policies {
namespace {

struct World {
  explicit World(const std::string& line) {
    auto read = muster_v1::SnapshotReader().read(line);
    EXPECT_TRUE(read) << read.error().path << read.error().message;
    snapshot = std::make_unique<Snapshot>(std::move(*read));
    auto built = build_problem(*snapshot);
    EXPECT_TRUE(built) << built.error().message;
    problem = std::move(*built);
    shares = compute_fair_shares(problem);
  }
  // Names of the pods that the plan places, once it has been checked.
  std::set<std::string> placed(const Plan& plan) const {
    for (const referee::Violation& violation : referee::check_plan(*snapshot, problem, shares, plan)) {
      ADD_FAILURE() << referee::rule_name(violation.rule) << ": " << violation.subject << ": " << violation.message;
    }
    std::set<std::string> names;
    for (const Placement& placement : plan.placements) names.emplace(snapshot->pods[placement.pod.value()].name);
    return names;
  }
  std::unique_ptr<Snapshot> snapshot;
  Problem problem;
  FairShares shares;
};

ClusterText one_node() { return ClusterText().node("n0", 4); }

using Names = std::set<std::string>;

constexpr const char* kQuotaOfTwo = R"("gpu":{"quota":2})";

std::string three_in_line() {
  return one_node()
      .pod("late", 1, R"("created":30)")
      .pod("first", 2, R"("created":10)")
      .pod("big", 3, R"("created":20,"priority":50)")
      .line();
}

TEST(Fifo, StopsAtTheFirstThatDoesNotFit) {
  const World world(three_in_line());
  EXPECT_EQ(world.placed(solve_fifo(world.problem, world.shares, FifoRule::kStrict)), Names{"first"});
}

TEST(Fifo, PassesOverItWhereItMayBackfill) {
  const World world(three_in_line());
  EXPECT_EQ(world.placed(solve_fifo(world.problem, world.shares, FifoRule::kBackfill)), (Names{"first", "late"}));
}

TEST(Fifo, OneQueueDoesNotStopAnother) {
  const World world(one_node()
                        .queue("a")
                        .queue("b")
                        .pod("a0", 5, R"("queue":"a","created":1)")
                        .pod("a1", 1, R"("queue":"a","created":2)")
                        .pod("b0", 1, R"("queue":"b","created":3)")
                        .line());
  EXPECT_EQ(world.placed(solve_fifo(world.problem, world.shares, FifoRule::kStrict)), Names{"b0"});
}

TEST(Fifo, PutsPodsWhereTheyFillBest) {
  const World world(ClusterText().node("n0", 8).node("n1", 4).pod("p", 3).line());
  const Plan plan = solve_fifo(world.problem, world.shares, FifoRule::kStrict);
  ASSERT_EQ(plan.placements.size(), 1U);
  EXPECT_EQ(plan.placements[0].node, NodeIndex(1));
}

TEST(KaiOrder, TakesTheHigherPriorityOfAQueueThenTheOlder) {
  const World world(one_node()
                        .pod("old", 2, R"("created":10)")
                        .pod("older", 2, R"("created":5)")
                        .pod("urgent", 2, R"("created":20,"priority":50)")
                        .line());
  EXPECT_EQ(world.placed(solve_in_kai_order(world.problem, world.shares)), (Names{"older", "urgent"}));
}

TEST(KaiOrder, TurnsToTheQueueFurthestBelowItsShare) {
  ClusterText text = one_node().queue("a", kQuotaOfTwo).queue("b", kQuotaOfTwo);
  for (int i = 0; i < 4; ++i) text.pod("a" + std::to_string(i), 1, R"("queue":"a","created":)" + std::to_string(1 + i));
  const World world(text.pod("b0", 1, R"("queue":"b","created":5)").pod("b1", 1, R"("queue":"b","created":6)").line());
  EXPECT_EQ(world.placed(solve_in_kai_order(world.problem, world.shares)), (Names{"a0", "a1", "b0", "b1"}));
}

TEST(KaiOrder, ReclaimsForAQueueBelowItsShare) {
  const World world(one_node()
                        .queue("a", kQuotaOfTwo)
                        .queue("b", kQuotaOfTwo)
                        .pods("a", 4, 1, R"("queue":"a","node":"n0")")
                        .pod("b0", 1, R"("queue":"b","created":5)")
                        .line());
  const Plan plan = solve_in_kai_order(world.problem, world.shares);
  EXPECT_EQ(world.placed(plan), Names{"b0"});
  ASSERT_EQ(plan.evictions.size(), 1U);
  EXPECT_EQ(plan.evictions[0].reason, EvictionReason::kReclaim);
}

TEST(Baselines, KeepEveryRuleOnClustersWithSomeOfEveryFeature) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    generator::GeneratorOptions options = *generator::generator_preset("full");
    options.cluster.nodes = 30;
    options.seed = seed;
    const World world(generator::generate_snapshot(options));
    world.placed(solve_fifo(world.problem, world.shares, FifoRule::kStrict));
    world.placed(solve_fifo(world.problem, world.shares, FifoRule::kBackfill));
    world.placed(solve_in_kai_order(world.problem, world.shares));
  }
}

}  // namespace
}  // namespace muster::policies
