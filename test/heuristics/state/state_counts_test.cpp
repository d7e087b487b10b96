// The small counters of a cluster state: gangs, anti-affinity, disruption budgets, changes.
#include "heuristics/state/state_counts.h"

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

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
  AntiAffinityCounts counts;
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

// 40 services with a term each on 30 hosts: many cells, of which many are emptied again.
TEST(AntiAffinityCounts, CountsManyTermsAsATableOfAllPairsDoes) {
  std::string nodes, pods;
  for (int i = 0; i < 30; ++i)
    nodes +=
        fmt::format(R"({}{{"name":"n{}","resources":{{"cpu":"8"}},"labels":{{"host":"n{}"}}}})", i ? "," : "", i, i);
  for (int i = 0; i < 40; ++i) {
    pods += fmt::format(
        R"({}{{"name":"p{}","labels":{{"app":"a{}"}},"podAntiAffinity":{{"topologyKey":"host","labelSelector":)"
        R"({{"matchLabels":{{"app":"a{}"}}}}}},"resources":{{"cpu":"1"}}}})",
        i ? "," : "", i, i / 2, i);
  }
  const test::Case problem(R"("nodes":[)" + nodes + R"(],"pods":[)" + pods + "]");
  const auto& terms = problem->inter_pod.anti_affinities;
  ASSERT_EQ(terms.size(), 40U);
  AntiAffinityCounts counts;
  Indexed<AntiAffinityIndex, std::vector<std::int32_t>> owners(40, std::vector<std::int32_t>(30)), matched = owners;
  std::mt19937 random(5);
  for (int step = 0; step < 4'000; ++step) {
    const PodClass& pod_class = problem->class_of(PodIndex(random() % 40));
    const NodeIndex node(random() % 30);
    const std::int32_t by = random() % 2 == 0 ? 1 : -1;
    counts.count(*problem, pod_class, node, by);
    for (const AntiAffinityIndex term : pod_class.anti_affinity_owned)
      owners[term][terms[term].domain_of[node].value()] += by;
    for (const AntiAffinityIndex term : pod_class.anti_affinity_matched)
      matched[term][terms[term].domain_of[node].value()] += by;
  }
  const AntiAffinityCounts copy = counts;
  for (const AntiAffinityIndex term : terms.indices()) {
    for (std::size_t domain = 0; domain < 30; ++domain) {
      EXPECT_EQ(copy.owners(term, DomainIndex(domain)), owners[term][domain]);
      EXPECT_EQ(copy.matched(term, DomainIndex(domain)), matched[term][domain]);
    }
  }
}

TEST(AntiAffinityCounts, IgnoresNodesOutsideAllDomains) {
  const test::Case problem(kCountedNodes);
  AntiAffinityCounts counts;
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
