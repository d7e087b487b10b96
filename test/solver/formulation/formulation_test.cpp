#include "solver/formulation/formulation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/greedy/greedy.h"
#include "heuristics/state/candidate.h"
#include "model/referee/referee.h"
#include "solver/cbc/worker_protocol.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::formulation {
namespace {

using test::Case;
using test::ExactFormulation;

std::string text_of(const LevelId& id) { return std::string(level_name(id.kind)) + " " + std::to_string(id.priority); }

// Solves level after level, each held at its optimum, and calls visit(formulation, level, expression's value, plan).
template <class Visit>
void solve_levels(cbc::Backend& backend, const Case& cluster, const Visit& visit) {
  ExactFormulation f(cluster);
  if (!f.is_listed) return;
  for (std::size_t i = 0; i < f.ids.size(); ++i) {
    SCOPED_TRACE(text_of(f.ids[i]));
    const std::optional<lp::LinearExpression> expression = f.formulation.level(f.ids[i]);
    if (!expression) continue;
    const lp::Milp milp = f.model_of(f.ids[i], *expression);
    const cbc::MilpAnswer answer = test::solve_exactly(backend, milp);
    ASSERT_EQ(answer.status, cbc::SolveStatus::kOptimal) << answer.message;
    const std::int64_t value = lp::value_of(*expression, answer.x);
    visit(f, i, value, f.decoded(answer.x));
    f.formulation.hold(f.ids[i], *expression, value);
  }
}

template <class Visit>
void solve_clusters(std::uint32_t first, std::uint32_t clusters, const Visit& visit) {
  cbc::Backend backend(test::program());
  for (std::uint32_t seed = first; seed < first + clusters; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    solve_levels(backend, cluster, visit);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Formulation, PlansAreWorthWhatTheLevelsSay) {
  solve_clusters(1, 60, [](const ExactFormulation& f, std::size_t i, std::int64_t value, const auto& decoded) {
    if (f.ids[i].kind == LevelKind::kShare) return;
    EXPECT_EQ(decoded.levels.values[i], value);
  });
}

TEST(Formulation, SharesOfPlansAreNeverAboveTheOptimum) {
  std::vector<std::int64_t> optima;
  solve_clusters(1, 60, [&](const ExactFormulation& f, std::size_t i, std::int64_t value, const auto& decoded) {
    if (i == 0) optima.clear();
    optima.resize(i, 0);
    optima.push_back(value);
    for (std::size_t level = 0; level <= i && f.ids[level].kind == LevelKind::kShare; ++level)
      EXPECT_LE(decoded.levels.values[level], optima[level]);
  });
}

TEST(Formulation, EveryPodOfASolutionFindsItsPlace) {
  solve_clusters(101, 40, [](const ExactFormulation&, std::size_t, std::int64_t, const auto& decoded) {
    EXPECT_EQ(decoded.missed, 0);
  });
}

TEST(Formulation, SolutionsObeyTheRules) {
  solve_clusters(201, 40, [](const ExactFormulation& f, std::size_t, std::int64_t, const auto& decoded) {
    // That no pod is evicted in vain follows from the levels, all of them: a solution of the first ones may break it.
    for (const referee::Violation& v : referee::check_plan(*f.problem.snapshot, f.problem, f.shares, decoded.plan))
      if (v.rule != referee::Rule::kNotInVain)
        ADD_FAILURE() << referee::rule_name(v.rule) << ", " << v.subject << ": " << v.message;
  });
}

// The optimum of the first level of the kind.
std::int64_t optimum_of(LevelKind kind, const std::string& rest) {
  const Case cluster(R"("policy":{"actions":["place"]},"topology":["zone"],)"
                     R"("nodes":[{"name":"n0","resources":{"cpu":8},"gpus":{"count":1},"labels":{"zone":"z"}},)"
                     R"({"name":"n1","resources":{"cpu":8},"gpus":{"count":1},"labels":{"zone":"z"}},)"
                     R"({"name":"n2","resources":{"cpu":8},"gpus":{"count":1},"labels":{"zone":"far"}}],)" +
                     rest);
  cbc::Backend backend(test::program());
  std::optional<std::int64_t> optimum;
  solve_levels(backend, cluster, [&](const ExactFormulation& f, std::size_t i, std::int64_t value, const auto&) {
    if (f.ids[i].kind == kind && !optimum) optimum = value;
  });
  return optimum.value_or(-1);
}

TEST(Formulation, SeveralPodsThatATermKeepsItsOwnerFromMayShareADomain) {
  const std::string pods =
      R"("pods":[{"name":"a","gpu":{"count":1},"nodeSelector":{"zone":"z"},"labels":{"app":"x"}},)"
      R"({"name":"b","gpu":{"count":1},"nodeSelector":{"zone":"z"},"labels":{"app":"x"}},)"
      R"({"name":"owner","gpu":{"count":1},"nodeSelector":{"zone":"z"},"podAntiAffinity":)"
      R"({"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"x"}}}]}}])";
  EXPECT_EQ(optimum_of(LevelKind::kWork, pods), 2000);
}

TEST(Formulation, AGangWhoseMinimumIsThereGetsNoMorePodsThanItHas) {
  const std::string gang =
      R"("gangs":[{"name":"g","minMember":0,"topology":{"preferred":"zone"}}],)"
      R"("pods":[{"name":"a","gang":"g","gpu":{"count":1}},{"name":"b","gang":"g","gpu":{"count":1}}])";
  EXPECT_EQ(optimum_of(LevelKind::kWork, gang), 2000);
}

TEST(Formulation, AGangWithoutAMinimumStillWaitsForItsMinResources) {
  const std::string gang = R"("gangs":[{"name":"g","minMember":0,"minResources":{"cpu":25}}],)"
                           R"("pods":[{"name":"a","gang":"g","gpu":{"count":1}},{"name":"b","gpu":{"count":1}}])";
  EXPECT_EQ(optimum_of(LevelKind::kWork, gang), 1000);
}

// The relaxation's value of the work on three nodes of one device each.
std::int64_t relaxed_work(const std::string& rest) {
  const Case cluster(R"("policy":{"actions":["place"]},"nodes":[)"
                     R"({"name":"n0","resources":{"cpu":8},"gpus":{"count":1},"labels":{"host":"n0"}},)"
                     R"({"name":"n1","resources":{"cpu":8},"gpus":{"count":1},"labels":{"host":"n1"}},)"
                     R"({"name":"n2","resources":{"cpu":8},"gpus":{"count":1},"labels":{"host":"n2"}}],)" +
                     rest);
  cbc::Backend backend(test::program());
  ExactFormulation f(cluster);
  const LevelId* work = &*std::ranges::find(f.ids, LevelKind::kWork, &LevelId::kind);
  cbc::MilpRequest request;
  request.relax = true;
  request.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  return std::llround(backend.solve(f.formulation.model().build(*f.formulation.level(*work), 1), request).objective);
}

std::string gang_of(int pods, const std::string& pod) {
  std::string line = R"("gangs":[{"name":"g","minMember":)" + std::to_string(pods) + R"(}],"pods":[)";
  for (int i = 0; i < pods; ++i)
    line += std::string(i > 0 ? "," : "") + R"({"name":"p)" + std::to_string(i) + R"(","gang":"g",)" + pod + "}";
  return line + "]";
}

TEST(Formulation, AGangThatAllNodesTogetherCannotTakeIsNotAdmittedInPart) {
  EXPECT_EQ(relaxed_work(gang_of(3, R"("gpu":{"count":1})")), 3000);
  EXPECT_EQ(relaxed_work(gang_of(4, R"("gpu":{"count":1})")), 0);
  EXPECT_EQ(relaxed_work(gang_of(7, R"("gpu":{"fraction":0.4})")), 0);  // two of them on a device
  EXPECT_EQ(relaxed_work(gang_of(4, R"("resources":{"cpu":5},"gpu":{"fraction":0.25})")), 0);
  EXPECT_EQ(relaxed_work(gang_of(4, R"("gpu":{"fraction":0.25},"podAntiAffinity":)"
                                    R"({"topologyKey":"host","matchGang":true})")),
            0);
}

// Whether the share of the only queue is the same expression as the work, of pods that ask for `gpu`.
bool is_share_as_work(const std::string& gpu) {
  const Case cluster(R"("policy":{"actions":["place"]},)"
                     R"("nodes":[{"name":"n0","resources":{"cpu":8},"gpus":{"count":2,"memory":"40Gi"}}],)" +
                     gang_of(6, R"("gpu":{)" + gpu + "}"));
  ExactFormulation f(cluster);
  const std::optional<lp::LinearExpression> share = f.formulation.level({LevelKind::kShare, 0});
  const std::optional<lp::LinearExpression> work = f.formulation.level({LevelKind::kWork, 0});
  return share->terms == work->terms;
}

TEST(Formulation, AShareThatTheDevicesEndBeforeIsNoLimit) {
  EXPECT_TRUE(is_share_as_work(R"("count":1)"));
  EXPECT_TRUE(is_share_as_work(R"("fraction":0.5)"));
  EXPECT_FALSE(is_share_as_work(R"("fraction":0.3337)"));  // counts as 334 thousandths
  EXPECT_FALSE(is_share_as_work(R"("memory":"20Gi")"));
}

// A plan that another engine finds is a point of the formulation: no level of it beats the proven optimum of the first
// level on which they differ.
TEST(Formulation, NoGreedyPlanBeatsTheOptimum) {
  cbc::Backend backend(test::program());
  for (std::uint32_t seed = 301; seed < 361; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const Candidate greedy = greedy::solve_greedy(cluster.problem(), cluster.shares(), {});
    bool is_decided = false;
    solve_levels(backend, cluster, [&](const ExactFormulation& f, std::size_t i, std::int64_t value, const auto&) {
      if (is_decided) return;
      const std::int64_t told = greedy.levels.values[i];
      if (is_maximised(f.ids[i].kind)) {
        EXPECT_LE(told, value) << text_of(f.ids[i]);
      } else {
        EXPECT_GE(told, value) << text_of(f.ids[i]);
      }
      is_decided = told != value;
    });
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace muster::formulation
