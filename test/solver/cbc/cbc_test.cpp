// CBC in this process, as the worker runs it.
#include "solver/cbc/cbc.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace muster::cbc {
namespace {

MilpRequest request_of(bool relax) {
  MilpRequest request;
  request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  request.relax = relax;
  return request;
}

// maximise 3x + 2y, x + y <= 4, x <= 3, y <= 3: x = 3, y = 1; one more of the row would be worth another y.
lp::Milp small_lp() {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 4);
  milp.add_column({3, 0, 3, false}, {{0, 1}});
  milp.add_column({2, 0, 3, false}, {{0, 1}});
  return milp;
}

TEST(GrowingLp, TellsTheOptimumAndThePricesOfRows) {
  GrowingLp lp(small_lp());
  const MilpAnswer answer = lp.solve(request_of(true));
  ASSERT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_NEAR(answer.objective, 11, 1e-9);
  ASSERT_EQ(answer.x.size(), 2U);
  EXPECT_NEAR(answer.x[0], 3, 1e-9);
  EXPECT_NEAR(answer.x[1], 1, 1e-9);
  ASSERT_EQ(answer.row_price.size(), 1U);
  EXPECT_NEAR(answer.row_price[0], 2, 1e-9) << ">= 0 for a <= row";
}

// A third column, 6.5 z with z <= 1, takes two of the row: x = 2, z = 1 is 12.5; x = 3, z = 0.5 would be 12.25.
TEST(GrowingLp, GrowsByColumns) {
  GrowingLp lp(small_lp());
  lp.solve(request_of(true));
  lp::Milp more;
  more.row_lower = {0};
  more.row_upper = {0};
  more.add_column({6.5, 0, 1, false}, {{0, 2}});
  lp.extend(more);
  const MilpAnswer answer = lp.solve(request_of(true));
  ASSERT_EQ(answer.status, SolveStatus::kOptimal);
  EXPECT_NEAR(answer.objective, 12.5, 1e-9);
  ASSERT_EQ(answer.x.size(), 3U);
  EXPECT_NEAR(answer.x[2], 1, 1e-9);
}

// maximise 5x + 4y, 6x + 4y <= 9, whole: x = 1, y = 0 is 5; x = 0, y = 2 is 8. The relaxation has 5 x 0 + 4 x 2.25 = 9.
TEST(SolveWithCbc, FindsWholeNumbers) {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 9);
  milp.add_column({5, 0, 10, true}, {{0, 6}});
  milp.add_column({4, 0, 10, true}, {{0, 4}});
  const MilpAnswer relaxed = solve_with_cbc(milp, request_of(true), {});
  EXPECT_NEAR(relaxed.objective, 9, 1e-9);
  const MilpAnswer whole = solve_with_cbc(milp, request_of(false), {});
  ASSERT_EQ(whole.status, SolveStatus::kOptimal);
  EXPECT_NEAR(whole.objective, 8, 1e-9);
  EXPECT_GE(whole.bound, 8 - 1e-9) << "a bound that is false";
}

// A millionth of the value would be four thousand units: a point that is short of the optimum by three is not its
// proof.
TEST(SearchRecord, APointShortOfAClaimedOptimumIsNoProofHoweverLargeTheValues) {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 9);
  milp.add_column({4e9, 1, 1, true}, {});
  milp.add_column({5, 0, 10, true}, {{0, 6}});
  milp.add_column({4, 0, 10, true}, {{0, 4}});
  const MilpRequest request = request_of(false);
  const IncumbentListener listener;
  SearchRecord record(milp, request, listener);
  record.offer({1, 1, 0});
  const MilpAnswer answer = record.finished(4e9 + 8, false);
  EXPECT_EQ(answer.status, SolveStatus::kFeasible);
  EXPECT_GE(answer.bound, 4e9 + 8);
}

TEST(SolveWithCbc, KnowsThatThereIsNoSolution) {
  lp::Milp milp;
  milp.add_row(2, 3);
  milp.add_column({1, 0, 1, true}, {{0, 1}});
  EXPECT_EQ(solve_with_cbc(milp, request_of(false), {}).status, SolveStatus::kInfeasible);
}

}  // namespace
}  // namespace muster::cbc
