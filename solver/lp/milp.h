// A mixed-integer linear program as plain data, and its solution. Knows neither clusters nor CBC.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace muster::lp {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Entry {
  std::int32_t row = 0;
  double value = 0;
};

// maximise objective . x  subject to  row_lower <= A x <= row_upper,  lower <= x <= upper,  x_j integer where
// is_integer[j]. A is kept by columns: column j has entries [column_begin[j], column_begin[j + 1]).
struct Milp {
  std::vector<double> objective, lower, upper;
  std::vector<std::uint8_t> is_integer;
  std::vector<std::uint8_t> is_structure;  // integer columns on which to branch before all others; or empty: none
  std::vector<double> row_lower, row_upper;
  std::vector<std::int32_t> column_begin{0};  // of the type of entry_row, as CBC and Eigen want it
  std::vector<std::int32_t> entry_row;
  std::vector<double> entry_value;
  std::vector<std::string> column_names, row_names;  // for the MPS file; may be empty

  std::int32_t columns() const { return static_cast<std::int32_t>(objective.size()); }
  std::int32_t rows() const { return static_cast<std::int32_t>(row_lower.size()); }
  std::int64_t entries() const { return static_cast<std::int64_t>(entry_row.size()); }

  std::int32_t add_row(double lower_bound, double upper_bound);
  // Entries of one row must be summed up by the caller; zeros are dropped.
  struct Column {
    double objective = 0, lower = 0, upper = kInfinity;
    bool integer = false, structure = false;
  };
  std::int32_t add_column(const Column& column, const std::vector<Entry>& column_entries);
};

// Puts the columns of `more` behind those of `milp`, as continuous ones without names. Requires as many rows of both.
void append_columns(Milp& milp, const Milp& more);

// Whether `x` satisfies every row, bound and integrality to within `tolerance` (absolute; for a row times its largest
// coefficient, if that is above 1). False if `x` has the wrong length or is not finite. Cost: O(entries). Used to
// verify the points given to the backend and those it returns.
bool is_feasible(const Milp& milp, const std::vector<double>& x, double tolerance);
double objective_value(const Milp& milp, const std::vector<double>& x);

}  // namespace muster::lp
