#include "solver/choice/sub_model.h"

#include <algorithm>
#include <utility>

#include "model/base/require.h"

namespace muster::choice {
namespace {

constexpr double kFeasibility = 1e-7;  // of a row that cannot be broken

// What the columns of a row can add up to.
struct Activity {
  double fixed = 0, now = 0;  // of the columns that stay, and of all as the incumbent has them
  double least = 0, most = 0;
  double least_left_out = 0, most_left_out = 0;  // of columns that are left out
  bool has_free = false;

  void leave_out(double coefficient, double lower, double upper) {
    least_left_out += coefficient * (coefficient > 0 ? lower : upper);
    most_left_out += coefficient * (coefficient > 0 ? upper : lower);
  }
  void add(double coefficient, double lower, double upper) {
    has_free = true;
    least += coefficient * (coefficient > 0 ? lower : upper);
    most += coefficient * (coefficient > 0 ? upper : lower);
  }
};

// What a row is to keep to. Those of levels hold them; any other may be broken by as much as the incumbent breaks it,
// which solvers take for nothing.
struct Range {
  double lower, upper;
};

std::vector<Range> ranges_of(const Incumbent& incumbent, const std::vector<Activity>& rows, std::size_t level,
                             Aim aim) {
  const lp::Milp& all = incumbent.model();
  std::vector<Range> ranges;
  const bool is_known = !incumbent.x().empty();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Range range{all.row_lower[i], all.row_upper[i]};
    if (is_known) range = {std::min(range.lower, rows[i].now), std::max(range.upper, rows[i].now)};
    ranges.push_back(range);
  }
  const auto hold = [&](std::size_t i, const Incumbent::Range& range) {
    if (const std::int32_t row = incumbent.levels()[i].row; row >= 0)
      ranges[static_cast<std::size_t>(row)] = {range.lower, range.upper};
  };
  for (std::size_t i = 0; i < level && is_known; ++i) hold(i, incumbent.held(i));
  if (is_known) hold(level, aim == Aim::kBetter ? incumbent.better(level) : incumbent.held(level));
  return ranges;
}

}  // namespace

std::vector<double> SubModel::whole(std::vector<double> incumbent, const std::vector<double>& part) const {
  MUSTER_REQUIRE(part.size() == columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) incumbent[static_cast<std::size_t>(columns[i])] = part[i];
  return incumbent;
}

std::vector<double> SubModel::part_of(const std::vector<double>& solution) const {
  std::vector<double> part;
  for (const std::int32_t column : columns) part.push_back(solution[static_cast<std::size_t>(column)]);
  return part;
}

SubModel sub_model(const Incumbent& incumbent, const Neighbourhood& part, std::size_t level, Aim aim) {
  const std::vector<bool>& is_free = part.is_free;
  const lp::Milp& all = incumbent.model();
  const std::vector<double>& x = incumbent.x();
  MUSTER_REQUIRE(is_free.size() == all.objective.size() && level < incumbent.levels().size());
  SubModel result;
  std::vector<Activity> rows(all.row_lower.size());
  const auto each_entry = [&](std::size_t j, const auto& visit) {
    const auto end = static_cast<std::size_t>(all.column_begin[j + 1]);
    for (auto e = static_cast<std::size_t>(all.column_begin[j]); e < end; ++e)
      visit(static_cast<std::size_t>(all.entry_row[e]), all.entry_value[e]);
  };
  const auto is_left_out = [&](std::size_t j) { return !part.is_left_out.empty() && part.is_left_out[j]; };
  for (std::size_t j = 0; j < is_free.size(); ++j) {
    if (is_free[j]) result.columns.push_back(static_cast<std::int32_t>(j));
    each_entry(j, [&](std::size_t row, double value) {
      if (is_free[j]) rows[row].add(value, all.lower[j], all.upper[j]);
      if (!x.empty()) rows[row].now += value * x[j];
      if (is_left_out(j))
        rows[row].leave_out(value, all.lower[j], all.upper[j]);
      else if (!is_free[j])
        rows[row].fixed += value * x[j];
    });
  }
  result.is_whole = result.columns.size() == is_free.size() && part.set.empty();
  const std::vector<Range> ranges = ranges_of(incumbent, rows, level, aim);
  std::vector<std::int32_t> position(rows.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double low = ranges[i].lower - rows[i].fixed - rows[i].most_left_out;
    const double high = ranges[i].upper - rows[i].fixed - rows[i].least_left_out;
    // NaN, of an infinite column: it may.
    const bool is_safe = rows[i].least >= low - kFeasibility && rows[i].most <= high + kFeasibility;
    if (rows[i].has_free && !is_safe) position[i] = result.milp.add_row(low, high);
  }
  const ModelLevel& of = incumbent.levels()[level];
  std::vector<double> objective(all.objective.size(), 0.0);
  for (const auto& [column, coefficient] : of.expression.terms)
    objective[static_cast<std::size_t>(column)] = of.sign * static_cast<double>(coefficient / of.divisor);
  std::vector<lp::Entry> entries;
  for (const std::int32_t column : result.columns) {
    const auto j = static_cast<std::size_t>(column);
    entries.clear();
    each_entry(j, [&](std::size_t row, double value) {
      if (position[row] >= 0) entries.push_back({position[row], value});
    });
    const bool is_structure = !all.is_structure.empty() && all.is_structure[j] != 0;
    result.milp.add_column({objective[j], all.lower[j], all.upper[j], all.is_integer[j] != 0, is_structure}, entries);
  }
  for (const auto& [column, value] : part.set) {
    const auto found = std::ranges::lower_bound(result.columns, column) - result.columns.begin();
    result.milp.lower[static_cast<std::size_t>(found)] = result.milp.upper[static_cast<std::size_t>(found)] = value;
  }
  return result;
}

}  // namespace muster::choice
