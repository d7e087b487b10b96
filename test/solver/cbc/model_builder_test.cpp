#include "solver/lp/model_builder.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/unmet.h"

namespace muster::cbc {
namespace {

lp::LinearExpression expression_of(std::int64_t constant, std::vector<std::pair<std::int32_t, std::int64_t>> terms) {
  return {constant, std::move(terms)};
}

// The entry of a row and a column; 0 where there is none.
double entry_of(const lp::Milp& milp, std::int32_t row, std::size_t column) {
  double sum = 0;
  for (auto e = static_cast<std::size_t>(milp.column_begin[column]);
       e < static_cast<std::size_t>(milp.column_begin[column + 1]); ++e)
    if (milp.entry_row[e] == row) sum += milp.entry_value[e];
  return sum;
}

struct TwoColumns {
  explicit TwoColumns(bool integer) {
    x = builder.add_column(0, 10, integer, "x");
    y = builder.add_column(0, 10, integer, "y");
  }
  lp::ModelBuilder builder;
  std::int32_t x = 0, y = 0;
};

TEST(LinearExpression, DropsZerosAndMultipliesWhatIsAdded) {
  lp::LinearExpression sum = expression_of(3, {{0, 2}});
  sum.add(1, 0);
  EXPECT_EQ(sum.terms.size(), 1U);
  sum.add(expression_of(5, {{1, 4}}), -2);  // 3 + 2 x - 2 (5 + 4 y)
  EXPECT_EQ(sum.constant, -7);
  EXPECT_EQ(sum.terms.back(), (std::pair<std::int32_t, std::int64_t>{1, -8}));
}

// 4 <= 6x + 9y <= 14: divided by 3, 4/3 <= 2x + 3y <= 14/3; whole numbers lie in 2..4.
TEST(ModelBuilder, DividesARowAndRoundsItsLimitsInwards) {
  TwoColumns model(true);
  const std::int32_t row = model.builder.add_constraint(expression_of(0, {{model.x, 6}, {model.y, 9}}), 4, 14, "r");
  const lp::Milp milp = model.builder.build({}, 1);
  EXPECT_EQ(entry_of(milp, row, 0), 2);
  EXPECT_EQ(entry_of(milp, row, 1), 3);
  EXPECT_EQ(milp.row_lower[0], 2);
  EXPECT_EQ(milp.row_upper[0], 4);
}

TEST(ModelBuilder, RoundsNoLimitOfARowWithAColumnThatNeedNotBeWhole) {
  TwoColumns model(true);
  const std::int32_t z = model.builder.add_column(0, 1, false, "z");
  model.builder.add_constraint(expression_of(0, {{model.x, 6}, {z, 3}}), 4, 14, "r");
  const lp::Milp milp = model.builder.build({}, 1);
  EXPECT_DOUBLE_EQ(milp.row_lower[0], 4.0 / 3);
  EXPECT_DOUBLE_EQ(milp.row_upper[0], 14.0 / 3);
}

// 5 + x + y + x <= 11 is 2x + y <= 6.
TEST(ModelBuilder, SumsUpAColumnThatComesAgainAndTakesTheConstantToTheOtherSide) {
  TwoColumns model(true);
  const std::int32_t row = model.builder.add_constraint(expression_of(5, {{model.x, 1}, {model.y, 1}, {model.x, 1}}),
                                                        -lp::kInfinity, 11, "r");
  const lp::Milp milp = model.builder.build({}, 1);
  EXPECT_EQ(entry_of(milp, row, 0), 2);
  EXPECT_EQ(entry_of(milp, row, 1), 1);
  EXPECT_EQ(milp.row_upper[0], 6);
  EXPECT_EQ(milp.row_lower[0], -lp::kInfinity);
}

// 333333 x + 4000000 y <= 8000001: the greatest common divisor is 1, and 4000000 / 4096 < 1024 < 4000000 / 2048.
TEST(ModelBuilder, ScalesLargeCoefficientsDownByAPowerOfTwo) {
  TwoColumns model(true);
  const std::int32_t row =
      model.builder.add_constraint(expression_of(0, {{model.x, 333'333}, {model.y, 4'000'000}}), 0, 8'000'001, "r");
  const lp::Milp milp = model.builder.build({}, 1);
  EXPECT_EQ(entry_of(milp, row, 0), 333'333.0 / 4096);
  EXPECT_EQ(entry_of(milp, row, 1), 4'000'000.0 / 4096);
  EXPECT_EQ(milp.row_upper[0], 8'000'001.0 / 4096);
}

TEST(ModelBuilder, HandsOutColumnsWithTheirBoundsAndSumsOfEntries) {
  TwoColumns model(false);
  const std::int32_t row = model.builder.add_row(-lp::kInfinity, 7, "r");
  model.builder.add_entry(row, model.y, 2);
  model.builder.add_entry(row, model.x, 1);
  model.builder.add_entry(row, model.y, 3);
  model.builder.add_entry(row, model.x, 0);
  model.builder.set_bounds(model.x, 1, 4);
  const lp::Milp milp = model.builder.build(expression_of(100, {{model.x, 2}, {model.y, 3}, {model.x, 4}}), -1);
  EXPECT_EQ(milp.objective, (std::vector<double>{-6, -3})) << "sign x coefficients, without the constant";
  EXPECT_EQ(milp.lower, (std::vector<double>{1, 0}));
  EXPECT_EQ(milp.upper, (std::vector<double>{4, 10}));
  EXPECT_EQ(model.builder.upper(model.x), 4);
  EXPECT_EQ(milp.entries(), 2);
  EXPECT_EQ(entry_of(milp, row, 0), 1);
  EXPECT_EQ(entry_of(milp, row, 1), 5);
}

// 7 + 2 x 2.9999999 + 3 x 1.0000001 = 16, but for what solvers leave.
TEST(ValueOf, RoundsToTheNearestInteger) {
  EXPECT_EQ(lp::value_of(expression_of(7, {{0, 2}, {1, 3}}), {2.9999999, 1.0000001}), 16);
  EXPECT_EQ(lp::value_of(expression_of(7, {{0, -2}}), {2.9999999}), 1);
}

TEST(ModelBuilder, GivesUpOnceTheDeadlineHasPassed) {
  lp::ModelBuilder builder;
  builder.begin_timed({Deadline::Clock::now() - std::chrono::seconds(1), false});
  EXPECT_THROW(for (int i = 0; i < 5000; ++i) builder.add_column(0, 1, true, ""), lp::ModelTooLong);
  builder.end_timed();
  EXPECT_NO_THROW(for (int i = 0; i < 5000; ++i) builder.add_column(0, 1, true, ""));
}

TEST(ModelBuilder, AnEntryOfNoRowIsADefectOfTheLine) {
  TwoColumns two(true);
  two.builder.add_entry(-1, 0, 1);
  expect_unmet([&] { two.builder.build({}, 1); }, "row");
}

}  // namespace
}  // namespace muster::cbc
