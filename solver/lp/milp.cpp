#include "solver/lp/milp.h"

#include <algorithm>
#include <cmath>

namespace muster {

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
  for (const Entry& entry : column_entries) {
    if (entry.value == 0) continue;
    entry_row.push_back(entry.row);
    entry_value.push_back(entry.value);
  }
  column_begin.push_back(entries());
  return columns() - 1;
}

namespace {

// Written so that a NaN anywhere is outside.
bool is_within(double value, double lower, double upper, double tolerance) {
  return value >= lower - tolerance && value <= upper + tolerance;
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

bool is_feasible(const Milp& milp, const std::vector<double>& x, double tolerance) {
  if (x.size() != milp.objective.size() || !satisfies_columns(milp, x, tolerance)) return false;
  std::vector<double> activity(milp.row_lower.size(), 0.0);
  std::vector<double> scale(milp.row_lower.size(), 1.0);
  for (std::size_t column = 0; column < x.size(); ++column) {
    for (auto entry = static_cast<std::size_t>(milp.column_begin[column]);
         entry < static_cast<std::size_t>(milp.column_begin[column + 1]); ++entry) {
      const auto row = static_cast<std::size_t>(milp.entry_row[entry]);
      activity[row] += milp.entry_value[entry] * x[column];
      scale[row] = std::max(scale[row], std::abs(milp.entry_value[entry]));
    }
  }
  for (std::size_t row = 0; row < activity.size(); ++row) {
    if (!is_within(activity[row], milp.row_lower[row], milp.row_upper[row], tolerance * scale[row])) return false;
  }
  return true;
}

double objective_value(const Milp& milp, const std::vector<double>& x) {
  double value = 0;
  for (std::size_t column = 0; column < x.size(); ++column) value += milp.objective[column] * x[column];
  return value;
}

}  // namespace muster
