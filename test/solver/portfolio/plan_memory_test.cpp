#include "solver/portfolio/plan_memory.h"

#include <algorithm>
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

// The pod that runs leaves for the one of higher priority.
TEST(PlanMemory, RecallsEvictionsAsLongAsTheyAreAllowedAndNeeded) {
  const auto cluster_with = [](const char* more, const char* victim) {
    return Case(test::nodes_with({{"n", 2}})
                    .queue("q")
                    .running("victim", "n", 2, std::string(R"("queue":"q","preemptible":)") + victim)
                    .pod("p", 2, std::string(R"("queue":"q","priority":100)") + more));
  };
  const Case before = cluster_with("", "true");
  Plan plan;
  plan.placements.push_back({PodIndex(1), NodeIndex(0), {0, 1}, {PodIndex(0)}});
  plan.evictions.push_back({PodIndex(0), EvictionReason::kPreempt, GangIndex(1)});
  ASSERT_TRUE(before.check(plan).empty());
  PlanMemory memory;
  memory.keep(before.problem(), plan);
  const auto recalled = memory.recall(before.problem(), before.shares(), {});
  ASSERT_TRUE(recalled);
  EXPECT_EQ(recalled->plan, plan);
  const Case of_lower_priority = cluster_with(R"(,"preemptionPolicy":"Never")", "true");
  const Case not_preemptible = cluster_with("", "false");
  EXPECT_FALSE(memory.recall(of_lower_priority.problem(), of_lower_priority.shares(), {}));
  EXPECT_FALSE(memory.recall(not_preemptible.problem(), not_preemptible.shares(), {}));
  StartPlan by_names;
  by_names.placements = {{"p", "n", {0, 1}}};
  by_names.evictions = {{"victim", "p", EvictionReason::kPreempt}};
  memory.keep(by_names);
  const auto by_name = memory.recall(before.problem(), before.shares(), {});
  ASSERT_TRUE(by_name);
  EXPECT_EQ(by_name->plan, plan);
}

// Topology, evictions, moves and all: nothing of a plan is lost in the cluster that it is of.
TEST(PlanMemory, APlanOfTheSameClusterComesBack) {
  int evicting = 0;
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Case cluster =
        seed % 2 == 0 ? test::any_cluster(seed) : test::random_cluster(seed, {.may_evict = true, .running = 50});
    const Candidate plan = greedy::solve_greedy(cluster.problem(), cluster.shares(), {});
    PlanMemory memory;
    memory.keep(cluster.problem(), plan.plan);
    const auto recalled = memory.recall(cluster.problem(), cluster.shares(), {});
    const bool has_stale = std::ranges::any_of(cluster.problem().gangs, [](const Gang& gang) { return gang.stale; });
    if (plan.plan.placements.empty() || has_stale) continue;
    ASSERT_TRUE(recalled);
    EXPECT_TRUE(compare(recalled->levels, plan.levels, level_ids(cluster.problem())) >= 0);
    evicting += plan.plan.evictions.empty() ? 0 : 1;
  }
  EXPECT_GT(evicting, 30);
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
