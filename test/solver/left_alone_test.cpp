// Rules leave alone what runs already, even where it exceeds what they allow. Each model that proves bounds must have
// the plan in which all of that stays: else its bounds are false.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "solver/choice/choice.h"
#include "solver/engine/whole_model.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/master_case.h"
#include "test/support/paths.h"

namespace muster {
namespace {

using test::Case;
using test::Cluster;

// Two pods run on "m", may leave, and go nowhere else if they have no selector of their own; "w" waits and fits on "o".
Cluster cluster_with(const std::string& pods, const std::string& node = "", const std::string& nodes = "") {
  Cluster cluster;
  cluster.at(1000);
  const auto node_of = [&](const char* name, int gpus, const std::string& more) {
    cluster.node(
        name, gpus,
        R"("resources":{"cpu":8,"x.com/y":4},"labels":{"host":")" + std::string(name) + R"(","zone":"z"})" + more);
  };
  node_of("m", 2, node);
  node_of("n", 2, nodes);
  node_of("o", 1, nodes);
  cluster.pod("w", 1, R"("priority":20,"nodeSelector":{"host":"o"})");
  for (const char* name : {"a", "b"})
    cluster.running(name, "m", 1,
                    R"("started":0,"labels":{"app":"x"})" + (pods.empty() ? "" : "," + pods) +
                        (pods.find("nodeSelector") == std::string::npos ? R"(,"nodeSelector":{"host":"m"})" : ""));
  return cluster;
}

constexpr const char* kGang = R"("gang":"g")";

// Level by level, the optimum of the formulation is what the plan reaches.
void expect_plan_in(formulation::Formulation& formulation, const std::vector<LevelId>& ids, const Levels& levels) {
  cbc::Backend backend(test::program());
  for (std::size_t i = 0; i < ids.size() && ids[i].kind <= LevelKind::kMoved; ++i) {
    const auto expression = formulation.level(ids[i]);
    ASSERT_TRUE(expression.has_value());
    std::int64_t optimum = expression->constant;
    if (!expression->terms.empty()) {
      const lp::Milp milp = formulation.model().build(*expression, is_maximised(ids[i].kind) ? 1 : -1);
      const cbc::MilpAnswer answer = test::solve_exactly(backend, milp);
      ASSERT_EQ(answer.status, cbc::SolveStatus::kOptimal) << level_name(ids[i].kind);
      optimum = lp::value_of(*expression, answer.x);
      formulation.hold(ids[i], *expression, optimum);
    }
    EXPECT_EQ(optimum, levels.values[i]) << level_name(ids[i].kind) << " " << ids[i].priority;
  }
}

void expect_plan_in_choice(const test::MasterCase& scene, const std::vector<LevelId>& ids, const Levels& levels) {
  cbc::Backend backend(test::program());
  choice::ChoiceModel model({*scene.cluster, scene.cluster.shares(), scene.rules, scene.restricted.demand,
                             scene.restricted.zones, scene.restricted.anti_affinity, scene.restricted.before,
                             scene.restricted.base});
  if (!model.formulate(test::no_deadline())) return;  // see pooled_supply.h
  const choice::Choice chosen =
      model.choose(trivial_bounds(*scene.cluster, scene.cluster.shares()), {Plan{}}, test::no_deadline(), backend);
  ASSERT_FALSE(chosen.levels.empty());
  for (std::size_t i = 0; i < chosen.levels.size(); ++i)
    EXPECT_EQ(chosen.levels[i].bound, levels.values[i]) << level_name(ids[i].kind) << " " << ids[i].priority;
}

void expect_all_stay(const Cluster& cluster) {
  const auto made = [&] { return Case::of_line(cluster.line(), test::Oddities::kSettled); };
  Case with_plan = made();
  with_plan.place("w", "o", {0});
  ASSERT_TRUE(with_plan.check(with_plan.plan()).empty());
  const Levels levels = evaluate(*with_plan, with_plan.shares(), with_plan.plan());
  const std::vector<LevelId> ids = level_ids(*with_plan);
  {
    SCOPED_TRACE("choice");
    expect_plan_in_choice(test::MasterCase(made()), ids, levels);
  }
  {
    SCOPED_TRACE("all configurations");
    test::ExactFormulation exact(with_plan);
    ASSERT_TRUE(exact.is_listed);
    expect_plan_in(exact.formulation, ids, levels);
  }
  SCOPED_TRACE("all nodes");
  test::MasterCase scene(made());
  engine::WholeModel whole(*scene.cluster, scene.restricted, 1'000'000);
  ASSERT_TRUE(whole.is_whole());
  ASSERT_TRUE(scene.restricted.formulate(false, test::no_deadline()));
  whole.add_to(*scene.restricted.formulation);
  expect_plan_in(*scene.restricted.formulation, ids, levels);
}

const std::string kApart = R"("podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":")";
const std::string kFromX = R"(","labelSelector":{"matchLabels":{"app":"x"}}}]})";

TEST(LeftAlone, PodsThatShareAHostPort) { expect_all_stay(cluster_with(R"("hostPorts":[{"port":443}])")); }

TEST(LeftAlone, PodsThatShareAHostPortWithOneThatMayNotLeave) {
  Cluster cluster = cluster_with(R"("hostPorts":[{"port":443}])");
  cluster.pod("c", R"("node":"m","preemptible":false,"hostPorts":[{"port":443}])");
  cluster.pod("d", R"("node":"m","preemptible":false,"hostPorts":[{"port":443}])");
  expect_all_stay(cluster);
}

TEST(LeftAlone, PodsThatExcludeEachOtherFromTheirNode) { expect_all_stay(cluster_with(kApart + "host" + kFromX)); }

TEST(LeftAlone, PodsThatExcludeEachOtherFromTheirZone) {
  expect_all_stay(cluster_with(kApart + "zone" + kFromX + R"(,"nodeSelector":{"zone":"z"})"));
}

TEST(LeftAlone, APodThatAnotherOneOfItsZoneIsKeptFrom) {
  Cluster cluster = cluster_with("");
  cluster.running("c", "n", 1, R"("started":0,)" + kApart + "zone" + kFromX);
  expect_all_stay(cluster);
}

TEST(LeftAlone, PodsThatHaveTooFewNeighbours) {
  expect_all_stay(
      cluster_with(R"("podAffinity":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"gone"}}}])"));
}

TEST(LeftAlone, PodsThatAreNotSpread) {
  expect_all_stay(cluster_with(R"("topologySpread":[{"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":)"
                               R"("DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}}}])"));
}

TEST(LeftAlone, AGangOutsideOfTheLevelThatItRequires) {
  Cluster cluster = cluster_with(kGang);
  cluster.running("c", "n", 1, R"("started":0,"gang":"g")");
  expect_all_stay(cluster.gang("g", R"("topology":{"required":"host"})").with(R"("topology":["host"])"));
}

TEST(LeftAlone, AGangBelowItsMinimum) { expect_all_stay(cluster_with(kGang).gang("g", R"("minMember":3)")); }

TEST(LeftAlone, AQueueAboveItsLimit) {
  expect_all_stay(cluster_with(R"("queue":"q")").queue("default").queue("q", R"("gpu":{"limit":1,"quota":0})"));
}

TEST(LeftAlone, AQueueAboveItsLimitOfPods) {
  expect_all_stay(cluster_with(R"("queue":"q")").queue("default").queue("q", R"("resources":{"pods":{"limit":1}})"));
}

TEST(LeftAlone, PodsThatAreNotPreemptibleAboveTheQuota) {
  Cluster cluster = cluster_with(R"("queue":"q")").queue("default").queue("q", R"("gpu":{"quota":0})");
  expect_all_stay(cluster.pod("c", R"("queue":"q","node":"n","gpu":{"count":1},"preemptible":false)"));
}

TEST(LeftAlone, PodsThatTakeMoreCpuThanTheNodeReports) { expect_all_stay(cluster_with(R"("resources":{"cpu":5})")); }

TEST(LeftAlone, PodsThatTakeMoreDevicesThanTheNodeReports) {
  expect_all_stay(cluster_with("").running("c", "m", 1, R"("started":0)"));
}

TEST(LeftAlone, PodsOnANodeWithTaints) {
  expect_all_stay(cluster_with("", R"(,"taints":[{"key":"closed","effect":"NoExecute"}])"));
}

TEST(LeftAlone, PodsOnANodeThatIsNotOfTheirSelector) {
  expect_all_stay(cluster_with(R"("nodeSelector":{"host":"other"})"));
}

TEST(LeftAlone, PodsOnACordonedNode) { expect_all_stay(cluster_with("", R"(,"unschedulable":true)")); }

TEST(LeftAlone, PodsOfABudgetThatAllowsNone) {
  expect_all_stay(cluster_with("").with(R"("disruptionBudgets":[{"name":"b","selector":{},"allowed":0}])"));
}

TEST(LeftAlone, AGangWithAPodOnANodeThatIsGone) {
  Cluster cluster = cluster_with(kGang).gang("g", R"("minMember":3)");
  expect_all_stay(cluster.pod("c", R"("gang":"g","node":"gone")"));
}

}  // namespace
}  // namespace muster
