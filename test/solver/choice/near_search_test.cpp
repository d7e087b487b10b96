#include "solver/choice/near_search.h"

#include <vector>

#include <gtest/gtest.h>

#include "solver/cbc/backend.h"
#include "test/support/paths.h"

namespace muster::choice {
namespace {

using cbc::MilpAnswer, cbc::Question, cbc::SolveStatus;

// Pairs of columns of which one may be 1, worth 2 and 3; and a row over all of them, which never binds.
lp::Milp pairs(int count) {
  lp::Milp milp;
  for (int pair = 0; pair < count; ++pair) milp.add_row(-lp::kInfinity, 1);
  const std::int32_t sum = milp.add_row(-lp::kInfinity, count);
  for (int pair = 0; pair < count; ++pair)
    for (const double worth : {2.0, 3.0}) milp.add_column({worth, 0, 1, true}, {{pair, 1}, {sum, 1}});
  return milp;
}

cbc::MilpRequest request_of(const lp::Milp& milp, std::chrono::milliseconds time) {
  cbc::MilpRequest request;
  request.deadline = std::chrono::steady_clock::now() + time;
  request.start.assign(milp.objective.size(), 0.0);
  return request;
}

// The pairs' worse columns are 1 in `x`, from the first pair on.
std::vector<double> worse_of(const lp::Milp& milp, std::size_t pairs) {
  std::vector<double> x(milp.objective.size(), 0.0);
  for (std::size_t pair = 0; pair < pairs; ++pair) x[2 * pair] = 1;
  return x;
}

MilpAnswer answer_of(SolveStatus status, std::vector<double> x, double bound) {
  MilpAnswer answer;
  answer.status = status;
  answer.x = std::move(x);
  answer.bound = bound;
  return answer;
}

std::size_t free_columns(const lp::Milp& milp) {
  std::size_t free = 0;
  for (std::size_t column = 0; column < milp.lower.size(); ++column)
    free += milp.lower[column] < milp.upper[column] ? 1 : 0;
  return free;
}

class NearSearchTest : public testing::Test {
 protected:
  // As if the LP relaxation had answered.
  void answer_relaxation(std::vector<double> x, double bound) {
    const Question* relaxation = search.next();
    ASSERT_NE(relaxation, nullptr);
    EXPECT_TRUE(relaxation->request.relax);
    search.hear(answer_of(SolveStatus::kOptimal, std::move(x), bound));
  }

  const lp::Milp milp = pairs(100);
  NearSearch search{milp, request_of(milp, std::chrono::minutes(1))};
};

TEST_F(NearSearchTest, FreesTheColumnsInWhichTheRelaxationDiffers) {
  answer_relaxation(worse_of(milp, 7), 300);
  const Question* part = search.next();
  ASSERT_NE(part, nullptr);
  EXPECT_FALSE(part->request.relax);
  EXPECT_EQ(part->request.start, std::vector<double>(200, 0.0));
  for (std::size_t column = 0; column < 200; ++column) {
    EXPECT_EQ(part->milp.lower[column], 0);
    EXPECT_EQ(part->milp.upper[column], column < 14 && column % 2 == 0 ? 1 : 0);
  }
}

TEST_F(NearSearchTest, FreesColumnsOfMoreRowsWhenAPartIsSolvedAndOfFewerWhenItTakesTooLong) {
  answer_relaxation(std::vector<double>(200, 0.0), 300);
  EXPECT_EQ(free_columns(search.next()->milp), 0);
  std::vector<std::size_t> free;
  for (int part = 0; part < 8; ++part) {
    search.hear(answer_of(SolveStatus::kOptimal, {}, 0));
    free.push_back(free_columns(search.next()->milp));
  }
  EXPECT_GT(free.front(), 0) << "some pairs are free";
  EXPECT_GT(free.back(), 2 * free.front());
  EXPECT_LT(free.back(), 200) << "the row over all columns is not one that frees them";
  for (int part = 0; part < 6; ++part) {
    search.hear(answer_of(SolveStatus::kNoSolution, {}, lp::kInfinity));
    free.push_back(free_columns(search.next()->milp));
  }
  EXPECT_LT(free.back(), free[7] / 2);
}

TEST_F(NearSearchTest, KeepsTheBestSolutionAndEndsAtTheBound) {
  answer_relaxation(worse_of(milp, 7), 14);
  search.next();
  search.hear(answer_of(SolveStatus::kFeasible, worse_of(milp, 6), 300));
  EXPECT_EQ(search.answer().objective, 12);
  EXPECT_EQ(search.next()->request.start, worse_of(milp, 6));
  search.hear(answer_of(SolveStatus::kFeasible, worse_of(milp, 2), 300));
  EXPECT_EQ(search.answer().x, worse_of(milp, 6));
  EXPECT_FALSE(search.is_settled());
  search.next();
  search.hear(answer_of(SolveStatus::kOptimal, worse_of(milp, 7), 14));
  EXPECT_TRUE(search.is_settled());
  EXPECT_EQ(search.answer().objective, 14);
  EXPECT_EQ(search.answer().bound, 14) << "of the relaxation: that of a part is none of the whole";
}

TEST_F(NearSearchTest, AsksForTheWholeModelWhenTheRelaxationIsNotSolved) {
  search.next();
  search.hear(answer_of(SolveStatus::kNoSolution, {}, lp::kInfinity));
  const Question* whole = search.next();
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(free_columns(whole->milp), 200);
  EXPECT_FALSE(whole->request.relax);
  search.hear(answer_of(SolveStatus::kFeasible, worse_of(milp, 3), 300));
  EXPECT_EQ(search.next(), nullptr);
  EXPECT_FALSE(search.is_settled());
  EXPECT_EQ(search.answer().objective, 6);
  EXPECT_EQ(search.answer().bound, 300);
}

TEST_F(NearSearchTest, TellsOfAWorkerThatHasFailedAndKeepsItsStart) {
  answer_relaxation(worse_of(milp, 7), 300);
  search.next();
  MilpAnswer failed;
  failed.message = "the worker is gone";
  search.hear(failed);
  EXPECT_EQ(search.answer().status, SolveStatus::kFailed);
  EXPECT_EQ(search.answer().message, "the worker is gone");
  EXPECT_EQ(search.answer().x, std::vector<double>(200, 0.0));
  EXPECT_EQ(search.answer().bound, 300);
}

// A unit in a million is not the rounding error of a bound.
TEST_F(NearSearchTest, IsNotSettledOneUnitBelowTheBoundHoweverLargeThatIs) {
  lp::Milp large = milp;
  for (double& worth : large.objective) worth *= 1e7;
  large.objective[0] += 1;
  NearSearch of_large(large, request_of(large, std::chrono::minutes(1)));
  of_large.next();
  of_large.hear(answer_of(SolveStatus::kOptimal, worse_of(large, 100), 2e9 + 2.5));
  of_large.next();
  of_large.hear(answer_of(SolveStatus::kOptimal, worse_of(large, 100), 2e9 + 1));
  EXPECT_EQ(of_large.answer().objective, 2e9 + 1);
  EXPECT_FALSE(of_large.is_settled());
}

TEST(NearSearch, FindsTheOptimumInARace) {
  const lp::Milp milp = pairs(100);
  cbc::Backend backend(test::program());
  const cbc::MilpRequest request = request_of(milp, std::chrono::minutes(1));
  NearSearch first(milp, request), second(milp, request);
  backend.race(first, second, request.deadline);
  EXPECT_TRUE(first.is_settled() || second.is_settled());
  const MilpAnswer& best = first.is_settled() ? first.answer() : second.answer();
  EXPECT_EQ(best.objective, 300);
  EXPECT_TRUE(lp::is_feasible(milp, best.x, 1e-6));
  EXPECT_EQ(backend.failures(), 0);
}

}  // namespace
}  // namespace muster::choice
