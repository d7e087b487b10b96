// Free MPS for the reader of CBC 2.10.8. That reader recognises OBJSENSE MAX and then ignores it ("Coin ignores"), so
// the file states the minimisation of the negated objective and documents this in a comment.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "solver/lp/milp.h"

namespace muster {
namespace {

constexpr std::string_view kObjectiveName = "objective";
constexpr std::size_t kLongestName =
    100;  // CBC's reader has lines of 1024 characters; three names and two numbers must fit

std::string number(double value) {
  std::array<char, 32> text;
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), value == 0 ? 0.0 : value);
  return std::string(text.data(), end.ptr);
}

// A name without blanks that no reader takes for a comment, and that differs from the objective's.
bool is_writable(const std::string& name) {
  if (name.empty() || name.size() > kLongestName || name == kObjectiveName) return false;
  if (name.front() == '*' || name.front() == '$' || name.front() == '\'') return false;
  for (const char character : name) {
    if (character <= ' ' || character > '~') return false;
  }
  return true;
}

// The given names if they can be written and are the first of their kind; else R12 or C12 (made unique by underscores).
std::vector<std::string> unique_names(const std::vector<std::string>& given, std::size_t count, char letter) {
  std::vector<std::string> names(count);
  std::unordered_set<std::string> taken;
  for (std::size_t index = 0; index < std::min(count, given.size()); ++index) {
    if (is_writable(given[index]) && taken.insert(given[index]).second) names[index] = given[index];
  }
  for (std::size_t index = 0; index < count; ++index) {
    if (!names[index].empty()) continue;
    std::string name = letter + std::to_string(index);
    while (!taken.insert(name).second) name += '_';
    names[index] = name;
  }
  return names;
}

bool is_free_row(const Milp& milp, std::size_t row) {
  return milp.row_lower[row] == -kInfinity && milp.row_upper[row] == kInfinity;
}

// A row with two sides is a G row with a range; a row without sides has no effect and is left out.
char row_type(const Milp& milp, std::size_t row) {
  if (milp.row_lower[row] == milp.row_upper[row]) return 'E';
  return milp.row_lower[row] == -kInfinity ? 'L' : 'G';
}

void write_rows(const Milp& milp, const std::vector<std::string>& rows, std::ostream& out) {
  out << "ROWS\n N " << kObjectiveName << '\n';
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!is_free_row(milp, row)) out << ' ' << row_type(milp, row) << ' ' << rows[row] << '\n';
  }
}

void write_column(const Milp& milp, std::size_t column, const std::string& name, const std::vector<std::string>& rows,
                  std::ostream& out) {
  // The objective is written even if it is 0: a column without a line here would not exist.
  out << ' ' << name << ' ' << kObjectiveName << ' ' << number(-milp.objective[column]) << '\n';
  for (auto entry = static_cast<std::size_t>(milp.column_begin[column]);
       entry < static_cast<std::size_t>(milp.column_begin[column + 1]); ++entry) {
    const auto row = static_cast<std::size_t>(milp.entry_row[entry]);
    if (is_free_row(milp, row)) continue;
    out << ' ' << name << ' ' << rows[row] << ' ' << number(milp.entry_value[entry]) << '\n';
  }
}

void write_columns(const Milp& milp, const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                   std::ostream& out) {
  out << "COLUMNS\n";
  bool inside_integers = false;
  int markers = 0;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const bool integer = milp.is_integer[column] != 0;
    if (integer != inside_integers) {
      out << " MARKER" << markers++ << " 'MARKER' " << (integer ? "'INTORG'" : "'INTEND'") << '\n';
      inside_integers = integer;
    }
    write_column(milp, column, columns[column], rows, out);
  }
  if (inside_integers) out << " MARKER" << markers << " 'MARKER' 'INTEND'\n";
}

void write_right_hand_sides(const Milp& milp, const std::vector<std::string>& rows, std::ostream& out) {
  out << "RHS\n";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (is_free_row(milp, row)) continue;
    const double side = row_type(milp, row) == 'L' ? milp.row_upper[row] : milp.row_lower[row];
    if (side != 0) out << " RHS " << rows[row] << ' ' << number(side) << '\n';
  }
  bool first = true;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row_type(milp, row) != 'G' || milp.row_upper[row] == kInfinity) continue;
    if (first) out << "RANGES\n";
    first = false;
    out << " RANGE " << rows[row] << ' ' << number(milp.row_upper[row] - milp.row_lower[row]) << '\n';
  }
}

// Always both bounds, the lower one first: readers interpret omitted bounds differently, above all for integer columns
// and for negative upper bounds.
void write_bounds(const Milp& milp, const std::vector<std::string>& columns, std::ostream& out) {
  out << "BOUNDS\n";
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const double lower = milp.lower[column];
    const double upper = milp.upper[column];
    const std::string& name = columns[column];
    if (lower == upper) {
      out << " FX BOUND " << name << ' ' << number(lower) << '\n';
      continue;
    }
    if (lower == -kInfinity && upper == kInfinity) {
      out << " FR BOUND " << name << '\n';
      continue;
    }
    if (lower == -kInfinity) {
      out << " MI BOUND " << name << '\n';
    } else {
      out << " LO BOUND " << name << ' ' << number(lower) << '\n';
    }
    if (upper == kInfinity) {
      out << " PL BOUND " << name << '\n';
    } else {
      out << " UP BOUND " << name << ' ' << number(upper) << '\n';
    }
  }
}

}  // namespace

void write_mps(const Milp& milp, std::ostream& out) {
  const std::vector<std::string> rows = unique_names(milp.row_names, milp.row_lower.size(), 'R');
  const std::vector<std::string> columns = unique_names(milp.column_names, milp.objective.size(), 'C');
  out << "* maximised in Muster: objective negated\nNAME muster FREE\n";
  write_rows(milp, rows, out);
  write_columns(milp, rows, columns, out);
  write_right_hand_sides(milp, rows, out);
  write_bounds(milp, columns, out);
  out << "ENDATA\n";
}

}  // namespace muster
