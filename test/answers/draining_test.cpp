#include "solver/answers/draining.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

Draining drain(const test::Cluster& cluster, const DrainQuestion& question) {
  static portfolio::Portfolio portfolio(test::program());
  ExperimentOptions options;
  options.solve.deterministic = true;
  const Snapshot snapshot = test::Case::read(cluster.line());
  Result<Draining> found = drain_nodes(snapshot, portfolio, options, question);
  if (!found) throw std::runtime_error(found.error().message);
  return *std::move(found);
}

constexpr const char* kMayGo = R"("preemptible":true,"started":999000)";
constexpr const char* kStays = R"("preemptible":false,"started":999000)";

TEST(Draining, FindsRoomElsewhereAndCountsWhatIsLost) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4).running("a", "n1", 2, kStays).running("b", "n2", 1, kStays);
  const Draining found = drain(cluster, {{"n1"}});
  EXPECT_TRUE(found.at_once.has_room());
  EXPECT_EQ(found.at_once.pods, 1);
  EXPECT_EQ(found.at_once.lost_work, 2 * 1000 * 1000);
  EXPECT_EQ(found.at_once.running_work, 3000);
  EXPECT_TRUE(found.steps.empty());
  ASSERT_EQ(found.gangs.size(), 1U);
  EXPECT_EQ(found.gangs[0].name, "a");
  EXPECT_TRUE(found.gangs[0].is_broken);
  EXPECT_TRUE(found.gangs[0].is_whole);
  EXPECT_EQ(found.gangs[0].reason, "");
}

TEST(Draining, SaysWhyWhatFindsNoRoomDoesNot) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4).running("a", "n1", 2, kStays).running("b", "n2", 3, kStays);
  const Draining found = drain(cluster, {{"n1"}});
  EXPECT_FALSE(found.at_once.has_room());
  EXPECT_EQ(found.at_once.placed, 0);
  EXPECT_FALSE(found.gangs[0].is_whole);
  EXPECT_EQ(found.gangs[0].reason, "InsufficientGpu");
  EXPECT_FALSE(found.gangs[0].message.empty());
}

TEST(Draining, AGangBelowItsMinimumLosesAllOfItsWorkSinceTheCheckpoint) {
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 2).node("n3", 2);
  cluster.gang("g", R"("minMember":2,"preemptible":false,"checkpointed":999900)");
  cluster.running("g-0", "n1", 2, R"("gang":"g","started":999000)")
      .running("g-1", "n2", 2, R"("gang":"g","started":999000)");
  cluster.gang("elastic", R"("minMember":0,"preemptible":false)");
  const Draining found = drain(cluster, {{"n1"}});
  EXPECT_TRUE(found.gangs[0].is_broken);
  EXPECT_EQ(found.gangs[0].pods, 1);
  EXPECT_EQ(found.gangs[0].lost_work, 2 * 2000 * 100);
  EXPECT_TRUE(found.at_once.has_room());
}

TEST(Draining, EvictsPodsOfLowerPriorityForIt) {
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 2);
  cluster.running("high", "n1", 2, std::string(kMayGo) + R"(,"priority":50)");
  cluster.running("low", "n2", 2, std::string(kMayGo) + R"(,"priority":1)");
  const Draining found = drain(cluster, {{"n1"}});
  EXPECT_EQ(found.at_once.placed, 1);
  EXPECT_EQ(found.at_once.loss.evicted_pods, 1);
  EXPECT_FALSE(found.at_once.has_room());
}

TEST(Draining, NamesThePodsOnOtherNodesThatMoveForIt) {
  // n2 and n3 have one GPU left each, and the drained pod needs two.
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 2).node("n3", 2).running("a", "n1", 2, kStays);
  cluster.running("b", "n2", 1, kMayGo).running("c", "n3", 1, kStays);
  const Draining found = drain(cluster, {{"n1"}});
  EXPECT_TRUE(found.at_once.has_room());
  ASSERT_EQ(found.others.size(), 1U);
  EXPECT_EQ(found.others[0].pod, "b");
  EXPECT_EQ(found.others[0].from, "n2");
  EXPECT_EQ(found.others[0].to, "n3");
  const cli::Workplace place;
  const cli::Outcome told = place.run("drain n1 --deterministic --from " + place.file("cluster.json", cluster.line()));
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_NE(told.out.find("yes, if 1 pod on other nodes moves"), std::string::npos) << told.out;
}

TEST(Draining, DisruptionBudgetsForbidIt) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4);
  cluster.running("a", "n1", 1, R"("labels":{"app":"x"},"started":1000)")
      .running("b", "n1", 1, R"("labels":{"app":"x"},"started":1000)");
  cluster.with(
      R"("disruptionBudgets":[{"name":"pdb","namespace":"default","selector":{"matchLabels":{"app":"x"}},"allowed":1}])");
  const Draining found = drain(cluster, {{"n1"}});
  ASSERT_EQ(found.budgets.size(), 1U);
  EXPECT_EQ(found.budgets[0].title, "disruption budget \"default/pdb\"");
  EXPECT_EQ(found.budgets[0].allowed, 1);
  EXPECT_EQ(found.budgets[0].needed, 2);
  EXPECT_TRUE(found.at_once.has_room());
}

TEST(Draining, PodsOfDaemonSetsStay) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4).running("a", "n1", 1, kStays);
  cluster.pod("daemon", R"("node":"n1","started":1000,"preemptible":false,)"
                        R"("nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
                        R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}})");
  const Draining found = drain(cluster, {{"n1"}});
  EXPECT_EQ(found.tied_pods, 1);
  EXPECT_EQ(found.at_once.pods, 1);
  EXPECT_TRUE(found.at_once.has_room());
}

TEST(Draining, WhatWaitsIsHeldBackUnlessItCompetes) {
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 2).running("a", "n1", 2, kStays).pod("waits", 2, R"("priority":100)");
  EXPECT_TRUE(drain(cluster, {{"n1"}}).at_once.has_room());
  EXPECT_FALSE(drain(cluster, {{"n1"}, true}).at_once.has_room());
}

TEST(Draining, GoesInTheOrderInWhichMostGoesOnRunning) {
  // Room for two GPUs elsewhere. n1 has three, n2 two, n3 nothing.
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4).node("n3", 4).node("n4", 4);
  cluster.running("a", "n1", 3, kStays).running("b", "n2", 2, kStays).running("c", "n4", 2, kStays);
  const Draining found = drain(cluster, {{"n1", "n2", "n3"}});
  ASSERT_EQ(found.steps.size(), 3U);
  EXPECT_EQ(found.steps[0].node, "n3");
  EXPECT_EQ(found.steps[1].node, "n2");
  EXPECT_EQ(found.steps[1].outcome.placed, 1);
  EXPECT_EQ(found.steps[1].outcome.running_work, 7000);
  EXPECT_EQ(found.steps[2].node, "n1");
  EXPECT_EQ(found.steps[2].outcome.placed, 0);
  EXPECT_EQ(found.steps[2].outcome.running_work, 4000);
  EXPECT_TRUE(found.is_greedy);
  EXPECT_TRUE(found.is_complete);
  EXPECT_EQ(found.at_once.placed, 1);
}

TEST(Draining, AnUnknownNodeIsAnError) {
  portfolio::Portfolio portfolio(test::program());
  test::Cluster cluster;
  cluster.node("n1", 2);
  const Snapshot snapshot = test::Case::read(cluster.line());
  const Result<Draining> found = drain_nodes(snapshot, portfolio, {}, {{"n1", "n2"}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnknownName);
}

TEST(Draining, ProgramTellsByItsExitCodeWhetherAllFindsRoom) {
  const cli::Workplace place;
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4).node("n3", 2).running("a", "n1", 2, kStays).running("b", "n2", 2, kStays);
  const std::string from = " --deterministic --quiet --from " + place.file("cluster.json", cluster.line());
  const cli::Outcome yes = place.run("drain n1 n3 --format json" + from);
  EXPECT_EQ(yes.exit_code, 0) << yes.err;
  EXPECT_NE(yes.out.find(R"("fits":true)"), std::string::npos) << yes.out;
  EXPECT_NE(yes.out.find(R"("steps":[{"node":"n3")"), std::string::npos) << yes.out;
  const cli::Outcome no = place.run("drain n1 n2 n3" + from);
  EXPECT_EQ(no.exit_code, 1) << no.err;
  EXPECT_NE(no.out.find("NodeMismatch"), std::string::npos) << no.out;
  EXPECT_EQ(place.run("drain n9" + from).exit_code, 64);
  EXPECT_EQ(place.run("drain" + from).exit_code, 64);
}

}  // namespace
}  // namespace muster::answers
