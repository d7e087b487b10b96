// The small counters of a cluster state: gangs, anti-affinity, disruption budgets, changes.
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/anti_affinity_counts.h"
#include "heuristics/state/budgets_left.h"
#include "heuristics/state/gang_counts.h"
#include "heuristics/state/state_changes.h"
#include "test/support/case.h"

namespace muster {
namespace {

constexpr const char* kCountedNodes = R"(
 "disruptionBudgets":[{"name":"x","selector":{"matchLabels":{"app":"x"}},"allowed":1}],
 "topology":["rack"],
 "nodes":[{"name":"a","resources":{"cpu":"8"},"labels":{"rack":"r1"}},{"name":"b","resources":{"cpu":"8"},"labels":{"rack":"r1"}},
          {"name":"c","resources":{"cpu":"8"},"labels":{"rack":"r2"}},{"name":"d","resources":{"cpu":"8"}}],
 "gangs":[{"name":"g","minMember":1}],
 "pods":[{"name":"runs","gang":"g","node":"a","labels":{"app":"x"},"resources":{"cpu":"1"}},
         {"name":"also","node":"b","labels":{"app":"x"},"resources":{"cpu":"1"}},
         {"name":"done","gang":"g","status":"succeeded"},
         {"name":"waits","gang":"g","resources":{"cpu":"1"}},
         {"name":"owner","podAntiAffinity":{"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"x"}}},
          "resources":{"cpu":"1"}}])";

TEST(GangCounts, CountsPodsThatHaveSucceededFromTheBeginning) {
  const test::Case problem(kCountedNodes);
  GangCounts counts(*problem);
  const GroupIndex root = problem->gangs[problem.gang("g")].root;
  EXPECT_EQ(counts.members(root), 1);
  counts.count(problem->pods[problem.pod("waits")], 1);
  EXPECT_EQ(counts.members(root), 2);
}

TEST(GangCounts, AVersionIncreasesWithEveryChange) {
  const test::Case problem(kCountedNodes);
  GangCounts counts(*problem);
  EXPECT_EQ(counts.version(problem.gang("g")), 0U);
  counts.count(problem->pods[problem.pod("waits")], 1);
  counts.count(problem->pods[problem.pod("waits")], -1);
  EXPECT_EQ(counts.version(problem.gang("g")), 2U);
}

TEST(AntiAffinityCounts, CountsOwnersAndMatchesByDomain) {
  const test::Case problem(kCountedNodes);
  AntiAffinityCounts counts(*problem);
  ASSERT_EQ(problem->inter_pod.anti_affinities.size(), 1U);
  const AntiAffinityIndex term(std::size_t{0});
  const auto domain = [&](const char* node) {
    return problem->inter_pod.anti_affinities[term].domain_of[problem.node(node)];
  };
  counts.count(*problem, problem.class_of("owner"), problem.node("c"), 1);
  counts.count(*problem, problem.class_of("runs"), problem.node("a"), 1);
  counts.count(*problem, problem.class_of("runs"), problem.node("b"), 1);
  counts.count(*problem, problem.class_of("runs"), problem.node("a"), -1);
  EXPECT_EQ(counts.owners(term, domain("c")), 1);
  EXPECT_EQ(counts.owners(term, domain("a")), 0);
  EXPECT_EQ(counts.matched(term, domain("a")), 1);
  EXPECT_EQ(counts.matched(term, domain("c")), 0);
}

TEST(AntiAffinityCounts, IgnoresNodesOutsideAllDomains) {
  const test::Case problem(kCountedNodes);
  AntiAffinityCounts counts(*problem);
  const AntiAffinityIndex term(std::size_t{0});
  counts.count(*problem, problem.class_of("runs"), problem.node("d"), 1);
  for (std::size_t domain = 0; domain < problem->inter_pod.anti_affinities[term].domain_count; ++domain)
    EXPECT_EQ(counts.matched(term, DomainIndex(domain)), 0);
}

TEST(BudgetsLeft, AreKeptUntilMorePodsLeaveThanAllowed) {
  const test::Case problem(kCountedNodes);
  BudgetsLeft budgets(problem->disruption_budgets);
  const auto of_pod = problem->disruption_budgets.of(problem.pod("runs"));
  ASSERT_EQ(of_pod.size(), 1U);
  budgets.count(of_pod, -1);
  EXPECT_EQ(budgets.left()[of_pod[0]], 0);
  EXPECT_TRUE(budgets.are_kept());
  budgets.count(of_pod, -1);
  EXPECT_FALSE(budgets.are_kept());
  budgets.count(of_pod, 1);
  EXPECT_TRUE(budgets.are_kept());
}

TEST(BudgetsLeft, IsEmptyWithoutBudgets) {
  const test::Case problem(R"("nodes":[{"name":"a"}])");
  const BudgetsLeft budgets(problem->disruption_budgets);
  EXPECT_TRUE(budgets.empty());
  EXPECT_TRUE(budgets.are_kept());
}

TEST(StateChanges, ListsEveryChangeInOrder) {
  const test::Case problem(kCountedNodes);
  StateChanges changes;
  changes.note(problem->pods[problem.pod("waits")], problem.node("b"));
  changes.note(problem->pods[problem.pod("owner")], problem.node("a"));
  changes.note(problem->pods[problem.pod("waits")], problem.node("b"));
  EXPECT_EQ(changes.touched(), (std::vector{problem.node("b"), problem.node("a"), problem.node("b")}));
  EXPECT_EQ(changes.changed_gangs().size(), 3U);
  EXPECT_EQ(changes.changed_gangs()[2], problem.gang("g"));
}

TEST(StateChanges, OnlyPodsThatRunInTheSnapshotChangeTheStandingVersion) {
  const test::Case problem(kCountedNodes);
  StateChanges changes;
  changes.note(problem->pods[problem.pod("waits")], problem.node("b"));
  EXPECT_EQ(changes.standing_version(), 0U);
  changes.note(problem->pods[problem.pod("runs")], problem.node("a"));
  EXPECT_EQ(changes.standing_version(), 1U);
}

}  // namespace
}  // namespace muster
