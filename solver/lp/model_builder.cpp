#include "solver/lp/model_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/require.h"
#include "solver/lp/matrix.h"

namespace muster::lp {
namespace {

std::int64_t divide_down(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
std::int64_t divide_up(std::int64_t a, std::int64_t b) { return -divide_down(-a, b); }

}  // namespace

LinearExpression LinearExpression::merged() const {
  LinearExpression sorted = *this;
  std::ranges::sort(sorted.terms, {}, &std::pair<std::int32_t, std::int64_t>::first);
  LinearExpression sum{constant, {}};
  for (std::size_t i = 0; i < sorted.terms.size();) {
    const std::int32_t column = sorted.terms[i].first;
    std::int64_t coefficient = 0;
    for (; i < sorted.terms.size() && sorted.terms[i].first == column; ++i)
      coefficient = saturating_add(coefficient, sorted.terms[i].second);
    sum.add(column, coefficient);
  }
  return sum;
}

std::optional<std::int64_t> whole_bound(double limit, std::int64_t divisor, int sign, std::int64_t constant) {
  MUSTER_REQUIRE((sign == 1 || sign == -1) && divisor >= 1);
  constexpr double kMost = 9e18, kRounding = 1e-6;
  const double whole = std::floor(limit + kRounding + 4 * std::numeric_limits<double>::epsilon() * std::abs(limit));
  std::int64_t product = 0, told = 0;
  if (!std::isfinite(whole) || std::abs(whole) > kMost) return std::nullopt;
  if (__builtin_mul_overflow(sign * static_cast<std::int64_t>(whole), divisor, &product) ||
      __builtin_add_overflow(product, constant, &told))
    return std::nullopt;
  return told;
}

std::int32_t ModelBuilder::add_column(double lower, double upper, bool integer, std::string name) {
  step();
  lower_.push_back(lower);
  upper_.push_back(upper);
  integer_.push_back(integer ? 1 : 0);
  column_names_.push_back(std::move(name));
  return columns() - 1;
}

std::int32_t ModelBuilder::add_row(double lower, double upper, std::string name) {
  step();
  row_lower_.push_back(lower);
  row_upper_.push_back(upper);
  row_names_.push_back(std::move(name));
  return rows() - 1;
}

void ModelBuilder::add_entry(std::int32_t row, std::int32_t column, double value) {
  if (value != 0) entries_.emplace_back(row, column, value);
}

void ModelBuilder::set_bounds(std::int32_t column, double lower, double upper) {
  lower_[static_cast<std::size_t>(column)] = lower;
  upper_[static_cast<std::size_t>(column)] = upper;
}

// A power of two that scales the coefficients of a row down to the range in which CBC's preprocessing is reliable: with
// rows in millionths of a device (333,333 next to 4,000,000) it has declared feasible models infeasible.
double ModelBuilder::shrink_of(const LinearExpression& merged, std::int64_t divisor) {
  constexpr double kLargest = 1024;
  double largest = 0, shrink = 1;
  for (const auto& [column, coefficient] : merged.terms)
    largest = std::max(largest, std::abs(static_cast<double>(coefficient / divisor)));
  while (largest * shrink > kLargest) shrink /= 2;
  return shrink;
}

std::int32_t ModelBuilder::add_constraint(const LinearExpression& expression, double lower, double upper,
                                          std::string name) {
  step(expression.terms.size());
  const LinearExpression sum = expression.merged();
  std::int64_t divisor = 0;
  bool all_integer = true;
  for (const auto& [column, coefficient] : sum.terms) {
    divisor = std::gcd(divisor, coefficient);
    all_integer = all_integer && integer_[static_cast<std::size_t>(column)] != 0;
  }
  if (divisor == 0) divisor = 1;
  const auto scale = static_cast<double>(divisor);
  double low = (lower - static_cast<double>(expression.constant)) / scale;
  double high = (upper - static_cast<double>(expression.constant)) / scale;
  if (all_integer && std::isfinite(low)) low = std::ceil(low - 1e-9);
  if (all_integer && std::isfinite(high)) high = std::floor(high + 1e-9);
  const double shrink = shrink_of(sum, divisor);
  const std::int32_t row = add_row(low * shrink, high * shrink, std::move(name));
  for (const auto& [column, coefficient] : sum.terms)
    add_entry(row, column, static_cast<double>(coefficient / divisor) * shrink);
  return row;
}

void ModelBuilder::add_implied(std::int32_t column, const LinearExpression& expression, double lower, double upper) {
  const LinearExpression sum = expression.merged();
  std::int64_t divisor = 0, least = 0, most = 0;
  for (const auto& [term, coefficient] : sum.terms) {
    MUSTER_REQUIRE(this->upper(term) < kInfinity);
    divisor = std::gcd(divisor, coefficient);
    const auto reach = coefficient * static_cast<std::int64_t>(this->upper(term));
    (reach < 0 ? least : most) += reach;
  }
  divisor = std::max<std::int64_t>(1, divisor);
  if (upper < kInfinity) {
    const std::int64_t limit = divide_down(static_cast<std::int64_t>(upper) - sum.constant, divisor) * divisor;
    LinearExpression row{0, sum.terms};
    if (most > limit) {
      row.add(column, most - limit);
      add_constraint(row, -kInfinity, static_cast<double>(most), "implied");
    }
  }
  if (lower > -kInfinity) {
    const std::int64_t limit = divide_up(static_cast<std::int64_t>(lower) - sum.constant, divisor) * divisor;
    LinearExpression row{0, sum.terms};
    if (least < limit) {
      row.add(column, least - limit);
      add_constraint(row, static_cast<double>(least), kInfinity, "implied");
    }
  }
}

ScaledRow ModelBuilder::add_scaled_row(const LinearExpression& merged, std::string name) {
  step(merged.terms.size());
  std::int64_t divisor = 0;
  for (const auto& [column, coefficient] : merged.terms) divisor = std::gcd(divisor, coefficient);
  divisor = std::max<std::int64_t>(1, divisor);
  const ScaledRow result{add_row(-kInfinity, kInfinity, std::move(name)), shrink_of(merged, divisor)};
  for (const auto& [column, coefficient] : merged.terms)
    add_entry(result.row, column, static_cast<double>(coefficient / divisor) * result.scale);
  return result;
}

Milp ModelBuilder::build(const LinearExpression& objective, int sign) const {
  Milp milp;
  const auto column_count = static_cast<std::size_t>(columns());
  milp.objective.assign(column_count, 0.0);
  for (const auto& [column, coefficient] : objective.terms)
    milp.objective[static_cast<std::size_t>(column)] += static_cast<double>(sign) * static_cast<double>(coefficient);
  milp.lower = lower_;
  milp.upper = upper_;
  milp.is_integer = integer_;
  if (!structure_.empty()) milp.is_structure.assign(column_count, 0);
  for (const std::int32_t column : structure_) milp.is_structure[static_cast<std::size_t>(column)] = 1;
  milp.row_lower = row_lower_;
  milp.row_upper = row_upper_;
  milp.column_names = column_names_;
  milp.row_names = row_names_;
  // Sorts by column and row, and adds up the coefficients of one place in the order in which they were added.
  SparseMatrix matrix(rows(), columns());
  matrix.setFromTriplets(entries_.begin(), entries_.end());
  milp.column_begin.assign(matrix.outerIndexPtr(), matrix.outerIndexPtr() + columns() + 1);
  milp.entry_row.assign(matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros());
  milp.entry_value.assign(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros());
  return milp;
}

std::string numbered(const char* kind, std::size_t number) { return kind + std::to_string(number); }

std::string numbered(const char* kind, std::size_t number, std::size_t second) {
  return numbered(kind, number) + "_" + std::to_string(second);
}

std::int64_t value_of(const LinearExpression& expression, const std::vector<double>& x) {
  long double sum = 0;
  for (const auto& [column, coefficient] : expression.terms)
    sum += static_cast<long double>(coefficient) * static_cast<long double>(x[static_cast<std::size_t>(column)]);
  return expression.constant + static_cast<std::int64_t>(std::llroundl(sum));
}

}  // namespace muster::lp
