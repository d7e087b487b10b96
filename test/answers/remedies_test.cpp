#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/snapshot_reader/snapshot_reader.h"
#include "solver/remedies/remedy_search.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

constexpr std::int64_t kMostTests = 2000;

ExperimentOptions deterministic() {
  ExperimentOptions options;
  options.solve.deterministic = true;
  return options;
}

// A cluster, the plan for it, and experiments with it.
struct Bench {
  explicit Bench(const std::string& line, test::Oddities oddities = test::Oddities::kErrors)
      : snapshot(test::Case::read(line, oddities)),
        portfolio(test::program()),
        experiment(snapshot, portfolio, deterministic()) {
    auto run = experiment.solve({});
    if (!run) throw std::runtime_error(run.error().message);
    base = std::move(*run);
  }
  RemedyAnswer remedies(std::string_view gang) {
    return find_remedies(experiment, *base, *base->find_gang(gang), kMostTests);
  }

  Snapshot snapshot;
  portfolio::Portfolio portfolio;
  Experiment experiment;
  std::unique_ptr<Run> base;
};

const Remedy* of_kind(const RemedyAnswer& answer, RemedyKind kind) {
  const auto found = std::ranges::find(answer.remedies, kind, &Remedy::kind);
  return found == answer.remedies.end() ? nullptr : &*found;
}

std::string text(const Remedy& remedy) {
  std::string text;
  for (const change::Change& change : remedy.changes) text += (text.empty() ? "" : " ") + change::text_of(change);
  return text;
}

std::string text(const RemedyAnswer& answer, RemedyKind kind) {
  const Remedy* remedy = of_kind(answer, kind);
  return remedy ? text(*remedy) + (remedy->is_smallest ? "" : " (perhaps less)") : "none";
}

TEST(Remedies, CountTheNodesThatAreMissing) {
  test::Cluster cluster;
  cluster.node("n1", 4).gang("g", R"("minMember":3)").pods("g", 3, 4, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kAddNodes), "--add-nodes 2xn1");
}

TEST(Remedies, RaiseTheLimitOfAnyResourceByWhatIsMissing) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("top", R"("resources":{"pods":{"limit":3}})");
  cluster.queue("q", R"("parent":"top","gpu":{"limit":8},"resources":{"pods":{"limit":9}})");
  cluster.running("r", "n1", 1, R"("queue":"q","preemptible":false)");
  cluster.gang("g", R"("queue":"q","minMember":4)").pods("g", 4, 1, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kRaiseLimit), "--set-limit top=pods:5");
}

TEST(Remedies, CountTheNodesThatAGangAheadTakesFirst) {
  test::Cluster cluster;
  cluster.node("n1", 4).running("r", "n1", 4, R"("priority":200)");
  cluster.gang("first", R"("minMember":2,"priority":90)").pods("first", 2, 4, R"("gang":"first")");
  cluster.gang("g", R"("minMember":1)").pods("g", 1, 4, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("first"), RemedyKind::kAddNodes), "--add-nodes 2xn1");
  // One node is enough: the first gang needs two.
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kAddNodes), "--add-nodes 1xn1");
}

TEST(Remedies, NameTheGangThatRunsAndTheSmallestOne) {
  test::Cluster cluster;
  cluster.node("n1", 4).node("n2", 4);
  cluster.running("a", "n1", 4, R"("priority":200)");
  cluster.running("b", "n2", 2, R"("priority":200)").running("c", "n2", 2, R"("priority":200)");
  cluster.pod("g", 4);
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kStopGangs), "--remove-gang a");
  EXPECT_EQ(text(answer, RemedyKind::kAddNodes), "--add-nodes 1xn1");
}

TEST(Remedies, AreNotSearchedOnceTheTimeIsUp) {
  test::Cluster cluster;
  cluster.node("n1", 4).running("a", "n1", 4, R"("priority":200)").pod("g", 4);
  Bench bench(cluster.line());
  ExperimentOptions options;
  options.end = portfolio::Clock::now();
  Experiment late(bench.snapshot, bench.portfolio, options);
  const RemedyAnswer answer = find_remedies(late, *bench.base, *bench.base->find_gang("g"), kMostTests);
  EXPECT_EQ(answer.tests, 0);
  EXPECT_TRUE(answer.remedies.empty());
  EXPECT_TRUE(std::ranges::find(answer.unfinished, RemedyKind::kAddNodes) != answer.unfinished.end());
  EXPECT_TRUE(std::ranges::find(answer.unfinished, RemedyKind::kStopGangs) != answer.unfinished.end());
}

TEST(Remedies, OpenCordonedNodesAndTolerateTaints) {
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 4, R"("unschedulable":true)").node("n3", 8, R"("unschedulable":true)");
  cluster.node("n4", 4, R"("taints":[{"key":"team","value":"x","effect":"NoSchedule"}])");
  cluster.pod("g", 4);
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(of_kind(answer, RemedyKind::kUncordon)->size, 1);
  EXPECT_EQ(text(answer, RemedyKind::kTolerate), "--tolerate g=team=x");
  EXPECT_EQ(answer.remedies.front().size, 1);
}

TEST(Remedies, LowerTheMinimumNoMoreThanNeeded) {
  test::Cluster cluster;
  cluster.node("n1", 6).node("n2", 2).node("n3", 2).node("n4", 2);
  cluster.gang("g", R"("minMember":3)").pods("g", 3, 4, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kLowerMinimum), "--set-minimum g=1");
}

TEST(Remedies, LowerAMinimumToThePodsThatExist) {
  test::Cluster cluster;
  cluster.node("n1", 8).gang("g", R"("minMember":6)").pods("g", 3, 1, R"("gang":"g")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kLowerMinimum), "--set-minimum g=3");
  EXPECT_EQ(answer.remedies.size(), 1U) << "no room helps";
}

TEST(Remedies, DoNotLowerTheMinimumOfAGangWithoutRoomForThePodsThatExist) {
  test::Cluster cluster;
  cluster.node("n1", 2).running("r", "n1", 2, R"("priority":200)");
  cluster.gang("g", R"("minMember":6)").pods("g", 3, 1, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kLowerMinimum), "none");
}

TEST(Remedies, LowerTheMinimumOfEachSubgroupThatLacksPods) {
  test::Cluster cluster;
  cluster.node("n1", 8).gang(
      "g", R"("subgroups":[{"name":"a","minMember":2},{"name":"b","minMember":1},{"name":"c","minMember":2}])");
  cluster.pod("a-0", 1, R"("gang":"g","subgroup":"a")").pod("b-0", 1, R"("gang":"g","subgroup":"b")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kLowerMinimum), "--set-minimum g/a=1 --set-minimum g/c=0");
}

TEST(Remedies, RaiseALimitByWhatIsMissing) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("q", R"("gpu":{"quota":2,"limit":3})");
  cluster.gang("g", R"("minMember":1,"queue":"q")").pods("g", 1, 5, R"("gang":"g")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_EQ(text(answer, RemedyKind::kRaiseLimit), "--set-limit q=gpu:5");
  EXPECT_EQ(of_kind(answer, RemedyKind::kAddNodes), nullptr);
}

TEST(Remedies, RelaxTheLevelToTheFinestThatSuffices) {
  test::Cluster cluster;
  cluster.with(R"("topology":["zone","rack","host"])");
  for (const char* name : {"1", "2", "3", "4"}) {
    const std::string rack = std::string(name) < "3" ? "a" : "b";
    cluster.node("n" + std::string(name), 2,
                 R"("labels":{"zone":"z","rack":")" + rack + R"(","host":")" + name + R"("})");
  }
  cluster.gang("g", R"("minMember":2,"topology":{"required":"host"})").pods("g", 2, 2, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kRelaxLevel), "--set-level g=rack");
}

TEST(Remedies, RelaxTheLevelWithinItsOwnTopology) {
  test::Cluster cluster;
  cluster.with(R"("topologies":[{"name":"power","levels":["rack"]},{"name":"net","levels":["zone","host"]}])");
  for (const char* name : {"1", "2"}) {
    const std::string labels =
        R"("labels":{"zone":"z","rack":")" + std::string(name) + R"(","host":")" + name + R"("})";
    cluster.node("n" + std::string(name), 2, labels);
  }
  cluster.gang("g", R"("minMember":2,"topology":{"required":"host"})").pods("g", 2, 2, R"("gang":"g")");
  EXPECT_EQ(text(Bench(cluster.line()).remedies("g"), RemedyKind::kRelaxLevel), "--set-level g=zone");
}

TEST(Remedies, SayThatNothingHelps) {
  test::Cluster cluster;
  cluster.node("n1", 4).queue("q").gang("g", R"("minMember":1,"queue":"gone")").pods("g", 1, 1, R"("gang":"g")");
  const RemedyAnswer answer = Bench(cluster.line()).remedies("g");
  EXPECT_TRUE(answer.remedies.empty());
  EXPECT_EQ(answer.without.size(), kRemedyKinds.size());
  EXPECT_EQ(answer.tests, 0);
}

TEST(Remedies, StopWhenTheTestsAreUsedUp) {
  test::Cluster cluster;
  cluster.node("n1", 4).gang("g", R"("minMember":3)").pods("g", 3, 4, R"("gang":"g")");
  Bench bench(cluster.line());
  const RemedyAnswer answer = find_remedies(bench.experiment, *bench.base, *bench.base->find_gang("g"), 1);
  EXPECT_LE(answer.remedies.size(), 1U);
  EXPECT_FALSE(answer.unfinished.empty());
}

}  // namespace
}  // namespace muster::answers
