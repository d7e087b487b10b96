#include "solver/lp/milp.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace muster::cbc {
namespace {

// max 3 x + 2 y, 2 <= x + 4 y <= 10, x in 0..3 integer, y in -1..2
lp::Milp two_columns() {
  lp::Milp milp;
  milp.add_row(2, 10);
  milp.add_column({3, 0, 3, true}, {{0, 1}});
  milp.add_column({2, -1, 2, false}, {{0, 4}});
  return milp;
}

TEST(Milp, RowsAndColumnsAreNumberedInTheOrderOfAdding) {
  lp::Milp milp;
  EXPECT_EQ(milp.add_row(0, 1), 0);
  EXPECT_EQ(milp.add_row(0, 1), 1);
  EXPECT_EQ(milp.add_column({1, 0, 1, true}, {{0, 2}, {1, 3}}), 0);
  EXPECT_EQ(milp.add_column({1, 0, 1, true}, {}), 1);
  EXPECT_EQ(milp.column_begin, (std::vector<std::int32_t>{0, 2, 2}));
}

TEST(Milp, ZerosAreDropped) {
  lp::Milp milp;
  milp.add_row(0, 1);
  milp.add_row(0, 1);
  milp.add_column({1, 0, 1, true}, {{0, 0}, {1, 3}});
  EXPECT_EQ(milp.entries(), 1);
  EXPECT_EQ(milp.entry_row.at(0), 1);
}

TEST(IsFeasible, TakesAPointInside) { EXPECT_TRUE(lp::is_feasible(two_columns(), {2, 1.5}, 1e-9)); }

TEST(IsFeasible, RefusesARowAboveItsUpperSide) { EXPECT_FALSE(lp::is_feasible(two_columns(), {3, 1.9}, 1e-9)); }

TEST(IsFeasible, RefusesARowBelowItsLowerSide) { EXPECT_FALSE(lp::is_feasible(two_columns(), {1, 0.1}, 1e-9)); }

TEST(IsFeasible, RefusesABrokenColumnBound) {
  EXPECT_FALSE(lp::is_feasible(two_columns(), {4, 1}, 1e-9));
  EXPECT_FALSE(lp::is_feasible(two_columns(), {-1, 1}, 1e-9));
}

TEST(IsFeasible, RefusesAFractionInAnIntegerColumn) { EXPECT_FALSE(lp::is_feasible(two_columns(), {1.5, 1}, 1e-9)); }

TEST(IsFeasible, ForgivesWithinTheToleranceOnly) {
  EXPECT_TRUE(lp::is_feasible(two_columns(), {2 + 9e-7, 1}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(two_columns(), {2 + 2e-6, 1}, 1e-6));
}

TEST(IsFeasible, ScalesTheToleranceByTheLargestCoefficientOfTheRow) {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 1e9);
  milp.add_column({1, 0, 2, false}, {{0, 1e9}});
  EXPECT_TRUE(lp::is_feasible(milp, {1 + 9e-7}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(milp, {1 + 2e-6}, 1e-6));
}

TEST(IsFeasible, RefusesWhatIsNotANumberOrHasTheWrongLength) {
  EXPECT_FALSE(lp::is_feasible(two_columns(), {2, std::numeric_limits<double>::quiet_NaN()}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(two_columns(), {2, lp::kInfinity}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(two_columns(), {2}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(two_columns(), {}, 1e-6));
}

TEST(IsFeasible, TakesAnythingInAFreeRow) {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, lp::kInfinity);
  milp.add_column({1, -lp::kInfinity, lp::kInfinity, false}, {{0, 1}});
  EXPECT_TRUE(lp::is_feasible(milp, {-1e12}, 1e-6));
}

TEST(ObjectiveValue, IsTheProductWithTheObjective) { EXPECT_EQ(lp::objective_value(two_columns(), {2, 1.5}), 9); }

}  // namespace
}  // namespace muster::cbc
