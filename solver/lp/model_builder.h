// Builds a MILP row by row and column by column, in any order, and returns it by columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/base/saturating.h"
#include "solver/budget/deadline.h"
#include "solver/lp/milp.h"

namespace muster::lp {

// constant + sum of coefficient x column. Integers: the levels are.
struct LinearExpression {
  std::int64_t constant = 0;
  std::vector<std::pair<std::int32_t, std::int64_t>> terms;  // (column, coefficient); a column may come again

  void add(std::int32_t column, std::int64_t coefficient) {
    if (coefficient != 0) terms.emplace_back(column, coefficient);
  }
  void add(const LinearExpression& other, std::int64_t factor = 1) {
    constant = saturating_add(constant, saturating_multiply(other.constant, factor));
    for (const auto& [column, coefficient] : other.terms) add(column, saturating_multiply(coefficient, factor));
  }
  // The same with each column once, ascending, and no zeros.
  LinearExpression merged() const;
};

// The bound of sign x expression for a bound of sign x (expression - constant) / divisor, which is an integer. None: it
// is no number, or beyond 64 bits. A rounding error of `limit` must neither cost a whole one nor make the bound too
// tight: beyond 2^53 doubles are more than 1 apart. Requires sign 1 or -1, divisor >= 1.
std::optional<std::int64_t> whole_bound(double limit, std::int64_t divisor, int sign, std::int64_t constant);

// Thrown if a model takes longer to build than there is time for.
struct ModelTooLong {};

struct ScaledRow {
  std::int32_t row = -1;
  double scale = 1;
};

class ModelBuilder {
 public:
  // From then on it throws ModelTooLong once the deadline has passed; checked from time to time.
  void begin_timed(const Deadline& deadline) { deadline_ = deadline; }
  void end_timed() { deadline_.reset(); }
  // Steps of building: a column, a row, and each term of a row is one.
  void step(std::size_t count = 1) {
    constexpr std::size_t kAskEvery = 1024;
    if (!deadline_ || (steps_ += count) < kAskEvery) return;
    steps_ = 0;
    if (deadline_->passed()) throw ModelTooLong{};
  }

  std::int32_t add_column(double lower, double upper, bool integer, std::string name);
  std::int32_t add_row(double lower, double upper, std::string name);
  void add_entry(std::int32_t row, std::int32_t column, double value);
  // lower <= expression <= upper. The coefficients are divided by their greatest common divisor, the limits rounded
  // inwards if all columns of the row are integer. Large ones are scaled down by a power of two.
  std::int32_t add_constraint(const LinearExpression& expression, double lower, double upper, std::string name);

  // lower <= expression <= upper if the binary column is 1. All coefficients stay multiples of the common divisor of
  // those of the expression, so that amounts in bytes do not make the others negligible. Requires that
  // all columns of the expression have an upper bound.
  void add_implied(std::int32_t column, const LinearExpression& expression, double lower, double upper);

  // A row of scale x (expression - constant) / divisor of all coefficients, which bounds nothing. `merged`: each column
  // once.
  ScaledRow add_scaled_row(const LinearExpression& merged, std::string name);

  std::int32_t columns() const { return static_cast<std::int32_t>(lower_.size()); }
  std::int32_t rows() const { return static_cast<std::int32_t>(row_lower_.size()); }
  double lower(std::int32_t column) const { return lower_[static_cast<std::size_t>(column)]; }
  double upper(std::int32_t column) const { return upper_[static_cast<std::size_t>(column)]; }
  void set_bounds(std::int32_t column, double lower, double upper);
  // It decides what others can be: to be branched on before them.
  void set_structure(std::int32_t column) { structure_.push_back(column); }

  // maximise sign x expression.
  Milp build(const LinearExpression& objective, int sign) const;

 private:
  static double shrink_of(const LinearExpression& merged, std::int64_t divisor);

  class Coefficient {  // as Eigen's triplets
   public:
    Coefficient(std::int32_t row, std::int32_t column, double value) : row_(row), column_(column), value_(value) {}
    std::int32_t row() const { return row_; }
    std::int32_t col() const { return column_; }
    double value() const { return value_; }

   private:
    std::int32_t row_, column_;
    double value_;
  };
  std::vector<double> lower_, upper_, row_lower_, row_upper_;
  std::vector<std::uint8_t> integer_;
  std::vector<std::int32_t> structure_;
  std::vector<std::string> column_names_, row_names_;
  std::vector<Coefficient> entries_;
  std::optional<Deadline> deadline_;
  std::size_t steps_ = 0;  // since the clock was read
};

// Names of columns and rows: "z4", "y4_2".
std::string numbered(const char* kind, std::size_t number);
std::string numbered(const char* kind, std::size_t number, std::size_t second);

// The value of an expression at a point with integral values in the integer columns; rounded to the nearest integer.
std::int64_t value_of(const LinearExpression& expression, const std::vector<double>& x);

}  // namespace muster::lp
