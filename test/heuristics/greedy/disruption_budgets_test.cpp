// What greedy makes room with where disruption budgets hold some of those that might go.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "model/referee/referee.h"
#include "test/support/plan.h"

namespace muster::greedy {
namespace {

// Those that are evicted, moved ("b>") and newly placed ("+p"), in the order of the snapshot. The referee passes the
// plan.
std::string outcome(const std::string& body) {
  const test::Case problem(body);
  const Plan plan = solve_greedy(*problem, problem.shares(), {}).plan;
  test::expect_legal(problem, plan);
  std::string text;
  for (const PodIndex pod : problem->pods.indices()) {
    const bool goes = std::ranges::find(plan.evictions, pod, &Eviction::pod) != plan.evictions.end();
    const bool comes = std::ranges::find(plan.placements, pod, &Placement::pod) != plan.placements.end();
    if (!goes && !comes) continue;
    text += (text.empty() ? "" : " ") + std::string(goes ? "" : "+") +
            std::string(problem.snapshot().pods[pod.value()].name) + (goes && comes ? ">" : "");
  }
  return text;
}

std::string runs(const std::string& name, const std::string& node, const std::string& more) {
  return R"({"name":")" + name + R"(","node":")" + node + R"(",)" + more + "}";
}

const std::string kTwoNodes = R"("nodes":[{"name":"n","gpus":{"count":1}},{"name":"m","gpus":{"count":1}}],)";
const std::string kWaits = R"({"name":"p","gpu":{"count":1},"priority":50})";
const std::string kOneGpu = R"("gpu":{"count":1},"priority":10)";

std::string budget(const std::string& name, int allowed) {
  return R"("disruptionBudgets":[{"name":")" + name + R"(","selector":{"matchLabels":{"app":")" + name +
         R"("}},"allowed":)" + std::to_string(allowed) + "}],";
}

TEST(GreedyWithBudgets, EvictsTheOneThatIsFreeToGoThoughItCostsMore) {
  const std::string pods = R"("pods":[)" + runs("a", "n", kOneGpu + R"(,"labels":{"app":"x"},"started":999999)") + "," +
                           runs("b", "m", kOneGpu + R"(,"started":900000)") + "," + kWaits + "]";
  EXPECT_EQ(outcome(kTwoNodes + pods), "a +p");
  EXPECT_EQ(outcome(budget("x", 0) + kTwoNodes + pods), "b +p");
}

TEST(GreedyWithBudgets, EvictsNoPodIfAllAreProtected) {
  const std::string pods = R"("pods":[)" + runs("a", "n", kOneGpu + R"(,"labels":{"app":"x"})") + "," +
                           runs("b", "m", kOneGpu + R"(,"labels":{"app":"x"})") + "," + kWaits + "]";
  EXPECT_EQ(outcome(budget("x", 0) + kTwoNodes + pods), "");
}

TEST(GreedyWithBudgets, TurnsToOthersOnceABudgetIsUsedUp) {
  const std::string nodes =
      R"("nodes":[{"name":"n","gpus":{"count":1}},{"name":"m","gpus":{"count":1}},{"name":"o","gpus":{"count":1}}],)";
  const std::string labelled = kOneGpu + R"(,"labels":{"app":"x"},"started":999999)";
  const std::string pods = R"("pods":[)" + runs("a", "n", labelled) + "," + runs("b", "m", labelled) + "," +
                           runs("c", "o", kOneGpu + R"(,"started":900000)") + "," + kWaits +
                           R"(,{"name":"q","gpu":{"count":1},"priority":50}])";
  EXPECT_EQ(outcome(nodes + pods), "a b +p +q");
  const std::string limited = outcome(budget("x", 1) + nodes + pods);
  EXPECT_NE(limited.find("c +p +q"), std::string::npos) << limited;
}

TEST(GreedyWithBudgets, EvictsAGangOnlyIfAllOfItMayGo) {
  const std::string gangs = R"("gangs":[{"name":"g","priority":10},{"name":"h","priority":11}],)";
  const auto member = [](const std::string& name, const std::string& gang, const std::string& node) {
    return runs(name, node, R"("gang":")" + gang + R"(","gpu":{"count":1},"labels":{"app":")" + gang + R"("})");
  };
  const std::string nodes = R"("nodes":[{"name":"n","gpus":{"count":2}},{"name":"m","gpus":{"count":1}}],)";
  const std::string pods = R"("pods":[)" + member("g-0", "g", "n") + "," + member("g-1", "g", "m") + "," +
                           member("h-0", "h", "n") + "," + kWaits + "]";
  EXPECT_EQ(outcome(gangs + nodes + pods), "g-0 g-1 +p");
  EXPECT_EQ(outcome(budget("g", 2) + gangs + nodes + pods), "g-0 g-1 +p");
  EXPECT_EQ(outcome(budget("g", 1) + gangs + nodes + pods), "h-0 +p");
  EXPECT_EQ(outcome(R"("disruptionBudgets":[{"name":"h","selector":{"matchLabels":{"app":"h"}},"allowed":0},)"
                    R"({"name":"g","selector":{"matchLabels":{"app":"g"}},"allowed":1}],)" +
                    gangs + nodes + pods),
            "");
}

TEST(GreedyWithBudgets, TakesOneLargePodWhereTheBudgetForbidsSeveralSmallOnes) {
  const auto sized = [](const std::string& name, int gpus, const std::string& started) {
    return runs(
        name, "n",
        R"("gpu":{"count":)" + std::to_string(gpus) + R"(},"priority":10,"labels":{"app":"x"},"started":)" + started);
  };
  const std::string rest = R"("nodes":[{"name":"n","gpus":{"count":4}}],"pods":[)" + sized("a", 1, "999999") + "," +
                           sized("b", 1, "999999") + "," + sized("c", 2, "900000") +
                           R"(,{"name":"p","gpu":{"count":2},"priority":50}])";
  EXPECT_EQ(outcome(rest), "a b +p");
  EXPECT_EQ(outcome(budget("x", 1) + rest), "c +p");
}

TEST(GreedyWithBudgets, CountsMovesToo) {
  const std::string nodes = R"("nodes":[{"name":"n","gpus":{"count":2}},{"name":"m","gpus":{"count":2}}],)";
  const std::string pods = R"("pods":[)" + runs("a", "n", kOneGpu + R"(,"labels":{"app":"x"})") + "," +
                           runs("b", "m", R"("gpu":{"count":1},"priority":10,"weight":2)") +
                           R"(,{"name":"p","gpu":{"count":2},"priority":10}])";
  EXPECT_EQ(outcome(nodes + pods), "a> +p");
  EXPECT_EQ(outcome(budget("x", 0) + nodes + pods), "b> +p");
}

TEST(GreedyWithBudgets, EvictsWhatOnlyOneOfThePolicysSchedulersRuns) {
  const std::string pods = R"("pods":[)" + runs("a", "n", kOneGpu + R"(,"schedulerName":"other","started":999999)") +
                           "," + runs("b", "m", kOneGpu + R"(,"started":900000)") + "," + kWaits +
                           R"(,{"name":"q","gpu":{"count":1},"priority":90,"schedulerName":"other"}])";
  EXPECT_EQ(outcome(R"("policy":{"schedulers":["default-scheduler"]},)" + kTwoNodes + pods), "b +p");
}

}  // namespace
}  // namespace muster::greedy
