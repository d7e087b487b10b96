// HiGHS and CBC, two solvers by different hands, prove the same optima. Skipped where the program is built without
// HiGHS; test/highs/run is the longer run.
#include "solver/cbc/highs.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "solver/cbc/cbc.h"
#include "test/properties/instances.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"
#include "test/solver/random_milp.h"

namespace muster::cbc {
namespace {

MilpRequest request() {
  MilpRequest request;
  request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  return request;
}

class SolveWithHighs : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_highs()) GTEST_SKIP() << "the program is built without HiGHS (-DMUSTER_HIGHS=ON)";
  }
};

TEST_F(SolveWithHighs, FindsTheBestOfAllPoints) {
  std::mt19937 random(7);
  const std::uint32_t wanted = properties::instances(300);
  for (std::uint32_t i = 0; i < wanted; ++i) {
    SCOPED_TRACE(i);
    const lp::Milp milp = test::random_milp(random);
    const std::optional<double> best = test::best_by_trying(milp);
    const MilpAnswer answer = solve_with_highs(milp, request(), {});
    ASSERT_EQ(answer.status, best ? SolveStatus::kOptimal : SolveStatus::kInfeasible) << answer.message;
    if (!best) continue;
    ASSERT_NEAR(answer.objective, *best, 1e-6);
    ASSERT_EQ(answer.bound, *best) << "all costs are integers";
    ASSERT_TRUE(lp::is_feasible(milp, answer.x, 1e-6));
  }
}

TEST_F(SolveWithHighs, TellsSolutionsAndBoundsThatHold) {
  std::mt19937 random(3);
  const lp::Milp milp = test::packing_milp(random, 20, 30);
  std::vector<MilpAnswer> told;
  const MilpAnswer answer = solve_with_highs(milp, request(), [&](const MilpAnswer& news) { told.push_back(news); });
  ASSERT_EQ(answer.status, SolveStatus::kOptimal);
  ASSERT_FALSE(told.empty());
  for (const MilpAnswer& news : told) {
    EXPECT_GE(news.bound, answer.objective);
    EXPECT_TRUE(news.x.empty() || lp::is_feasible(milp, news.x, 1e-6));
  }
}

// Presolve solves this model: HiGHS 1.16 then returns the start as its solution.
TEST_F(SolveWithHighs, IsNotMisledByItsStart) {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 9);
  milp.add_column({5, 0, 10, true}, {{0, 6}});
  milp.add_column({4, 0, 10, true}, {{0, 4}});
  MilpRequest with_start = request();
  with_start.start = {1, 0};
  const MilpAnswer answer = solve_with_highs(milp, with_start, {});
  ASSERT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_EQ(answer.objective, 8);
  EXPECT_EQ(answer.x, (std::vector<double>{0, 2}));
}

TEST_F(SolveWithHighs, ProvesWhatCbcProves) {
  const std::uint32_t wanted = properties::instances(30);
  int models = 0;
  for (std::uint32_t seed = 1; seed <= wanted; ++seed) {
    const test::Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    test::ExactFormulation f(cluster);
    if (!f.is_listed) continue;
    for (const LevelId& id : f.ids) {
      const std::optional<lp::LinearExpression> expression = f.formulation.level(id);
      if (!expression) continue;
      const lp::Milp milp = f.model_of(id, *expression);
      if (milp.columns() == 0) continue;
      const MilpAnswer one = solve_with_cbc(milp, request(), {});
      const MilpAnswer other = solve_with_highs(milp, request(), {});
      ASSERT_EQ(one.status, SolveStatus::kOptimal);
      ASSERT_EQ(other.status, SolveStatus::kOptimal);
      const double margin = 1e-6 * (1 + std::abs(one.objective));
      EXPECT_NEAR(one.objective, other.objective, margin);
      EXPECT_GE(one.bound, other.objective - margin);
      EXPECT_GE(other.bound, one.objective - margin);
      ++models;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(models, 0);
}

}  // namespace
}  // namespace muster::cbc
