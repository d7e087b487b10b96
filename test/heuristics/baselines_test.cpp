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

namespace muster {
namespace {

struct World {
  explicit World(const std::string& line) {
    auto read = SnapshotReader().read(line);
    EXPECT_TRUE(read) << read.error().path << read.error().message;
    snapshot = std::make_unique<Snapshot>(std::move(*read));
    auto built = build_problem(*snapshot);
    EXPECT_TRUE(built) << built.error().message;
    problem = std::move(*built);
    shares = compute_fair_shares(problem);
  }
  // Names of the pods that the plan places, once it has been checked.
  std::set<std::string> placed(const Plan& plan) const {
    for (const Violation& violation : check_plan(*snapshot, problem, shares, plan)) {
      ADD_FAILURE() << rule_name(violation.rule) << ": " << violation.subject << ": " << violation.message;
    }
    std::set<std::string> names;
    for (const Placement& placement : plan.placements) names.emplace(snapshot->pods[placement.pod.value()].name);
    return names;
  }
  std::unique_ptr<Snapshot> snapshot;
  Problem problem;
  FairShares shares;
};

std::string line_of(const std::string& members) {
  return R"({"format":"muster/v1","time":1000,"nodes":[{"name":"n0","gpus":{"count":4}}],)" + members + "}";
}

using Names = std::set<std::string>;

constexpr const char* kThreeInLine =
    R"("pods":[{"name":"late","created":30,"gpu":{"count":1}},{"name":"first","created":10,"gpu":{"count":2}},
               {"name":"big","created":20,"priority":50,"gpu":{"count":3}}])";

TEST(Fifo, StopsAtTheFirstThatDoesNotFit) {
  const World world(line_of(kThreeInLine));
  EXPECT_EQ(world.placed(solve_fifo(world.problem, world.shares, FifoRule::kStrict)), Names{"first"});
}

TEST(Fifo, PassesOverItWhereItMayBackfill) {
  const World world(line_of(kThreeInLine));
  EXPECT_EQ(world.placed(solve_fifo(world.problem, world.shares, FifoRule::kBackfill)), (Names{"first", "late"}));
}

TEST(Fifo, OneQueueDoesNotStopAnother) {
  const World world(line_of(
      R"("queues":[{"name":"a"},{"name":"b"}],"pods":[{"name":"a0","queue":"a","created":1,"gpu":{"count":5}},
         {"name":"a1","queue":"a","created":2,"gpu":{"count":1}},{"name":"b0","queue":"b","created":3,"gpu":{"count":1}}])"));
  EXPECT_EQ(world.placed(solve_fifo(world.problem, world.shares, FifoRule::kStrict)), Names{"b0"});
}

TEST(Fifo, PutsPodsWhereTheyFillBest) {
  const World world(
      R"({"format":"muster/v1","nodes":[{"name":"n0","gpus":{"count":8}},{"name":"n1","gpus":{"count":4}}],
          "pods":[{"name":"p","gpu":{"count":3}}]})");
  const Plan plan = solve_fifo(world.problem, world.shares, FifoRule::kStrict);
  ASSERT_EQ(plan.placements.size(), 1U);
  EXPECT_EQ(plan.placements[0].node, NodeIndex(1));
}

TEST(KaiOrder, TakesTheHigherPriorityOfAQueueThenTheOlder) {
  const World world(line_of(
      R"("pods":[{"name":"old","created":10,"gpu":{"count":2}},{"name":"older","created":5,"gpu":{"count":2}},
                 {"name":"urgent","created":20,"priority":50,"gpu":{"count":2}}])"));
  EXPECT_EQ(world.placed(solve_in_kai_order(world.problem, world.shares)), (Names{"older", "urgent"}));
}

TEST(KaiOrder, TurnsToTheQueueFurthestBelowItsShare) {
  const World world(line_of(
      R"("queues":[{"name":"a","gpu":{"quota":2}},{"name":"b","gpu":{"quota":2}}],
         "pods":[{"name":"a0","queue":"a","created":1,"gpu":{"count":1}},{"name":"a1","queue":"a","created":2,"gpu":{"count":1}},
                 {"name":"a2","queue":"a","created":3,"gpu":{"count":1}},{"name":"a3","queue":"a","created":4,"gpu":{"count":1}},
                 {"name":"b0","queue":"b","created":5,"gpu":{"count":1}},{"name":"b1","queue":"b","created":6,"gpu":{"count":1}}])"));
  EXPECT_EQ(world.placed(solve_in_kai_order(world.problem, world.shares)), (Names{"a0", "a1", "b0", "b1"}));
}

TEST(KaiOrder, ReclaimsForAQueueBelowItsShare) {
  const World world(line_of(
      R"("queues":[{"name":"a","gpu":{"quota":2}},{"name":"b","gpu":{"quota":2}}],
         "pods":[{"name":"a0","queue":"a","node":"n0","gpu":{"count":1}},{"name":"a1","queue":"a","node":"n0","gpu":{"count":1}},
                 {"name":"a2","queue":"a","node":"n0","gpu":{"count":1}},{"name":"a3","queue":"a","node":"n0","gpu":{"count":1}},
                 {"name":"b0","queue":"b","created":5,"gpu":{"count":1}}])"));
  const Plan plan = solve_in_kai_order(world.problem, world.shares);
  EXPECT_EQ(world.placed(plan), Names{"b0"});
  ASSERT_EQ(plan.evictions.size(), 1U);
  EXPECT_EQ(plan.evictions[0].reason, EvictionReason::kReclaim);
}

TEST(Baselines, KeepEveryRuleOnClustersWithSomeOfEveryFeature) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    GeneratorOptions options = *generator_preset("full");
    options.nodes = 30;
    options.seed = seed;
    const World world(generate_snapshot(options));
    world.placed(solve_fifo(world.problem, world.shares, FifoRule::kStrict));
    world.placed(solve_fifo(world.problem, world.shares, FifoRule::kBackfill));
    world.placed(solve_in_kai_order(world.problem, world.shares));
  }
}

}  // namespace
}  // namespace muster
