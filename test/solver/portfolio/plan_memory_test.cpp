#include "solver/portfolio/plan_memory.h"

#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "model/referee/referee.h"
#include "test/solver/random_cluster.h"

namespace muster::portfolio {
namespace {

using test::Cluster;

std::string node(const std::string& name, int gpus) {
  return R"({"name":")" + name + R"(","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":)" + std::to_string(gpus) +
         "}}";
}

Cluster cluster_of(const std::string& nodes, const std::string& gangs, const std::string& pods) {
  return *test::build_cluster(R"({"format":"muster/v1","time":1000,"nodes":[)" + nodes +
                              R"(],"queues":[{"name":"q"}],"gangs":[)" + gangs + R"(],"pods":[)" + pods + "]}");
}

std::string pod(const std::string& name, int gpus) {
  return R"({"name":")" + name + R"(","queue":"q","gpu":{"count":)" + std::to_string(gpus) + "}}";
}

// On the larger node, which no packing rule would choose.
PlanMemory memory_of_small_on_large(const Cluster& cluster) {
  Plan plan;
  plan.placements.push_back({PodIndex(0), NodeIndex(0), {0, 1}, {}});
  PlanMemory memory;
  memory.keep(cluster.problem, plan);
  return memory;
}

const std::string kBoth = node("large", 8) + "," + node("small", 2);

TEST(PlanMemory, KnowsNothingAtFirst) {
  const Cluster cluster = cluster_of(kBoth, "", pod("p", 2));
  EXPECT_FALSE(PlanMemory().recall(cluster.problem, cluster.shares, {}));
}

TEST(PlanMemory, PutsPodsWhereTheyWereAndTheOthersBeside) {
  PlanMemory memory = memory_of_small_on_large(cluster_of(kBoth, "", pod("p", 2)));
  const Cluster next = cluster_of(node("small", 2) + "," + node("large", 8), "", pod("new", 2) + "," + pod("p", 2));
  const auto recalled = memory.recall(next.problem, next.shares, {});
  ASSERT_TRUE(recalled);
  ASSERT_EQ(recalled->plan.placements.size(), 2U);
  for (const Placement& placement : recalled->plan.placements)
    EXPECT_EQ(placement.node, placement.pod == PodIndex(1) ? NodeIndex(1) : NodeIndex(0));
  EXPECT_TRUE(referee::check_plan(*next.snapshot, next.problem, next.shares, recalled->plan).empty());
}

TEST(PlanMemory, GivesUpWhereItIsStoppedBeforeAllOfItWasTried) {
  PlanMemory memory = memory_of_small_on_large(cluster_of(kBoth, "", pod("p", 2)));
  const Cluster next = cluster_of(kBoth, "", pod("p", 2));
  EXPECT_TRUE(memory.recall(next.problem, next.shares, [] { return false; }));
  EXPECT_FALSE(memory.recall(next.problem, next.shares, [] { return true; }));
}

TEST(PlanMemory, KnowsNothingWhereTheNodeIsGone) {
  PlanMemory memory = memory_of_small_on_large(cluster_of(kBoth, "", pod("p", 2)));
  const Cluster next = cluster_of(node("small", 2), "", pod("p", 2));
  EXPECT_FALSE(memory.recall(next.problem, next.shares, {}));
}

TEST(PlanMemory, KnowsNoneOfOtherNames) {
  PlanMemory memory = memory_of_small_on_large(cluster_of(kBoth, "", pod("p", 2)));
  const Cluster next = cluster_of(kBoth, "", pod("other", 2));
  EXPECT_FALSE(memory.recall(next.problem, next.shares, {}));
}

TEST(PlanMemory, WhatItRecallsObeysTheRulesWhateverHasChanged) {
  int recalled = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Cluster before = test::any_cluster(seed), after = test::any_cluster(seed + 1000);
    PlanMemory memory;
    const greedy::GreedyOptions options;
    memory.keep(before.problem, greedy::solve_greedy(before.problem, before.shares, options).plan);
    for (const Cluster* cluster : {&before, &after}) {
      const auto candidate = memory.recall(cluster->problem, cluster->shares, {});
      if (!candidate) continue;
      ++recalled;
      for (const referee::Violation& violation :
           referee::check_plan(*cluster->snapshot, cluster->problem, cluster->shares, candidate->plan))
        ADD_FAILURE() << seed << ": " << violation.subject << ": " << violation.message;
    }
  }
  EXPECT_GT(recalled, 200);
}

}  // namespace
}  // namespace muster::portfolio
