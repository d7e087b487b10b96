#include "solver/lp/milp.h"

#include <algorithm>
#include <cmath>

#include "model/base/require.h"
#include "solver/lp/matrix.h"

namespace muster::lp {

std::int32_t Milp::add_row(double lower_bound, double upper_bound) {
  row_lower.push_back(lower_bound);
  row_upper.push_back(upper_bound);
  return rows() - 1;
}

std::int32_t Milp::add_column(const Column& column, const std::vector<Entry>& column_entries) {
  objective.push_back(column.objective);
  lower.push_back(column.lower);
  upper.push_back(column.upper);
  is_integer.push_back(column.integer ? 1 : 0);
  if (column.structure) is_structure.resize(is_integer.size() - 1, 0);
  if (column.structure || !is_structure.empty()) is_structure.push_back(column.structure ? 1 : 0);
  for (const Entry& entry : column_entries) {
    if (entry.value == 0) continue;
    entry_row.push_back(entry.row);
    entry_value.push_back(entry.value);
  }
  column_begin.push_back(static_cast<std::int32_t>(entries()));
  return columns() - 1;
}

namespace {

// Written so that a NaN anywhere is outside.
bool is_within(double value, double lower, double upper, double tolerance) {
  return value >= lower - tolerance && value <= upper + tolerance;
}

// A view of the model's matrix. Products with it add up column by column, in the order of the entries.
Eigen::Map<const SparseMatrix> matrix_of(const Milp& milp) {
  return {milp.rows(),
          milp.columns(),
          static_cast<Eigen::Index>(milp.entries()),
          milp.column_begin.data(),
          milp.entry_row.data(),
          milp.entry_value.data()};
}

bool satisfies_columns(const Milp& milp, const std::vector<double>& x, double tolerance) {
  for (std::size_t column = 0; column < x.size(); ++column) {
    if (!std::isfinite(x[column])) return false;
    if (!is_within(x[column], milp.lower[column], milp.upper[column], tolerance)) return false;
    if (milp.is_integer[column] != 0 && std::abs(x[column] - std::round(x[column])) > tolerance) return false;
  }
  return true;
}

}  // namespace

void append_columns(Milp& milp, const Milp& more) {
  MUSTER_REQUIRE(more.rows() == milp.rows());
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  const std::int32_t entries = milp.column_begin.back();
  append(milp.objective, more.objective);
  append(milp.lower, more.lower);
  append(milp.upper, more.upper);
  append(milp.entry_row, more.entry_row);
  append(milp.entry_value, more.entry_value);
  milp.is_integer.resize(milp.objective.size(), 0);
  if (!milp.is_structure.empty()) milp.is_structure.resize(milp.objective.size(), 0);
  for (std::size_t column = 1; column < more.column_begin.size(); ++column) {
    milp.column_begin.push_back(entries + more.column_begin[column]);
  }
}

bool is_feasible(const Milp& milp, const std::vector<double>& x, double tolerance) {
  if (x.size() != milp.objective.size() || !satisfies_columns(milp, x, tolerance)) return false;
  const Eigen::VectorXd activity = matrix_of(milp) * Eigen::Map<const Eigen::VectorXd>(x.data(), milp.columns());
  std::vector<double> scale(milp.row_lower.size(), 1.0);  // the largest coefficient of each row
  for (std::size_t entry = 0; entry < milp.entry_row.size(); ++entry) {
    double& largest = scale[static_cast<std::size_t>(milp.entry_row[entry])];
    largest = std::max(largest, std::abs(milp.entry_value[entry]));
  }
  for (std::int32_t i = 0; i < milp.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!is_within(activity[i], milp.row_lower[row], milp.row_upper[row], tolerance * scale[row])) return false;
  }
  return true;
}

double objective_value(const Milp& milp, const std::vector<double>& x) {
  double value = 0;
  for (std::size_t column = 0; column < x.size(); ++column) value += milp.objective[column] * x[column];
  return value;
}

}  // namespace muster::lp
