#include "solver/portfolio/plan_memory.h"

#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "model/referee/referee.h"
#include "test/solver/master_case.h"
#include "test/solver/random_cluster.h"

namespace muster::portfolio {
namespace {

using test::Case;

test::Cluster small_and_large() { return test::nodes_with({{"large", 8}, {"small", 2}}).queue("q"); }

constexpr const char* kInQ = R"("queue":"q")";

// On the larger node, which no packing rule would choose.
PlanMemory memory_of_small_on_large(const Case& cluster) {
  Plan plan;
  plan.placements.push_back({PodIndex(0), NodeIndex(0), {0, 1}, {}});
  PlanMemory memory;
  memory.keep(cluster.problem(), plan);
  return memory;
}

TEST(PlanMemory, KnowsNothingAtFirst) {
  const Case cluster(small_and_large().pod("p", 2, kInQ));
  EXPECT_FALSE(PlanMemory().recall(cluster.problem(), cluster.shares(), {}));
}

TEST(PlanMemory, PutsPodsWhereTheyWereAndTheOthersBeside) {
  PlanMemory memory = memory_of_small_on_large(Case(small_and_large().pod("p", 2, kInQ)));
  const Case next(test::nodes_with({{"small", 2}, {"large", 8}}).queue("q").pod("new", 2, kInQ).pod("p", 2, kInQ));
  const auto recalled = memory.recall(next.problem(), next.shares(), {});
  ASSERT_TRUE(recalled);
  ASSERT_EQ(recalled->plan.placements.size(), 2U);
  for (const Placement& placement : recalled->plan.placements)
    EXPECT_EQ(placement.node, placement.pod == PodIndex(1) ? NodeIndex(1) : NodeIndex(0));
  EXPECT_TRUE(next.check(recalled->plan).empty());
}

TEST(PlanMemory, GivesUpWhereItIsStoppedBeforeAllOfItWasTried) {
  PlanMemory memory = memory_of_small_on_large(Case(small_and_large().pod("p", 2, kInQ)));
  const Case next(small_and_large().pod("p", 2, kInQ));
  EXPECT_TRUE(memory.recall(next.problem(), next.shares(), [] { return false; }));
  EXPECT_FALSE(memory.recall(next.problem(), next.shares(), [] { return true; }));
}

TEST(PlanMemory, KnowsNothingWhereTheNodeIsGone) {
  PlanMemory memory = memory_of_small_on_large(Case(small_and_large().pod("p", 2, kInQ)));
  const Case next(test::nodes_with({{"small", 2}}).queue("q").pod("p", 2, kInQ));
  EXPECT_FALSE(memory.recall(next.problem(), next.shares(), {}));
}

TEST(PlanMemory, KnowsNoneOfOtherNames) {
  PlanMemory memory = memory_of_small_on_large(Case(small_and_large().pod("p", 2, kInQ)));
  const Case next(small_and_large().pod("other", 2, kInQ));
  EXPECT_FALSE(memory.recall(next.problem(), next.shares(), {}));
}

TEST(PlanMemory, WhatItRecallsObeysTheRulesWhateverHasChanged) {
  int recalled = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Case before = test::any_cluster(seed), after = test::any_cluster(seed + 1000);
    PlanMemory memory;
    const greedy::GreedyOptions options;
    memory.keep(before.problem(), greedy::solve_greedy(before.problem(), before.shares(), options).plan);
    for (const Case* cluster : {&before, &after}) {
      const auto candidate = memory.recall(cluster->problem(), cluster->shares(), {});
      if (!candidate) continue;
      ++recalled;
      for (const referee::Violation& violation : cluster->check(candidate->plan))
        ADD_FAILURE() << seed << ": " << violation.subject << ": " << violation.message;
    }
  }
  EXPECT_GT(recalled, 200);
}

}  // namespace
}  // namespace muster::portfolio
