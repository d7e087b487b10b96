#include "solver/cbc/mps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <CoinError.hpp>
#include <CoinFinite.hpp>
#include <CoinMpsIO.hpp>
#include <CoinPackedMatrix.hpp>
#pragma GCC diagnostic pop

namespace muster::cbc {
namespace {

constexpr std::string_view kObjectiveName = "negated_objective";
constexpr std::size_t kLongestName =
    100;  // lines of CBC's reader have 1024 characters, for three names and two numbers

// A name without blanks that no reader takes for a comment, and that differs from the objective's.
bool is_writable(const std::string& name) {
  if (name.empty() || name.size() > kLongestName || name == kObjectiveName) return false;
  if (name.front() == '*' || name.front() == '$' || name.front() == '\'') return false;
  return std::ranges::all_of(name, [](char character) { return character > ' ' && character <= '~'; });
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

std::vector<double> to_coin(std::vector<double> values) {
  for (double& value : values) value = std::clamp(value, -COIN_DBL_MAX, COIN_DBL_MAX);
  return values;
}

bool is_unused(const lp::Milp& milp, std::size_t column) {
  return milp.column_begin[column] == milp.column_begin[column + 1] && milp.objective[column] == 0;
}

// Coin's writer writes the bounds of a column without coefficients and cost, but not the column, so that no reader
// takes the file. Such columns get a coefficient in one more row, which is free.
lp::Milp without_unused_columns(const lp::Milp& milp) {
  lp::Milp used;
  used.row_lower = milp.row_lower;
  used.row_upper = milp.row_upper;
  const std::int32_t free_row = used.add_row(-lp::kInfinity, lp::kInfinity);
  for (std::size_t column = 0; column < milp.objective.size(); ++column) {
    std::vector<lp::Entry> entries;
    for (auto at = static_cast<std::size_t>(milp.column_begin[column]);
         at < static_cast<std::size_t>(milp.column_begin[column + 1]); ++at)
      entries.push_back({milp.entry_row[at], milp.entry_value[at]});
    if (is_unused(milp, column)) entries.push_back({free_row, 1});
    used.add_column({milp.objective[column], milp.lower[column], milp.upper[column], milp.is_integer[column] != 0},
                    entries);
  }
  used.column_names = milp.column_names;
  used.row_names = milp.row_names;
  return used;
}

}  // namespace

bool write_mps(const lp::Milp& given, const std::string& path) {
  const lp::Milp milp = without_unused_columns(given);
  const CoinPackedMatrix matrix(true, milp.rows(), milp.columns(), static_cast<CoinBigIndex>(milp.entries()),
                                milp.entry_value.data(), milp.entry_row.data(), milp.column_begin.data(), nullptr);
  std::vector<double> cost;
  for (const double value : milp.objective) cost.push_back(value == 0 ? 0 : -value);
  const std::vector<char> is_integer(milp.is_integer.begin(), milp.is_integer.end());
  CoinMpsIO file;
  file.messageHandler()->setLogLevel(0);
  file.setMpsData(matrix, COIN_DBL_MAX, to_coin(milp.lower).data(), to_coin(milp.upper).data(), cost.data(),
                  is_integer.data(), to_coin(milp.row_lower).data(), to_coin(milp.row_upper).data(),
                  unique_names(milp.column_names, milp.objective.size(), 'C'),
                  unique_names(milp.row_names, milp.row_lower.size(), 'R'));
  file.setProblemName("muster");
  file.setObjectiveName(std::string(kObjectiveName).c_str());
  constexpr int kPlainText = 0, kExtraAccuracy = 1, kOneEntryALine = 1;
  try {
    return file.writeMps(path.c_str(), kPlainText, kExtraAccuracy, kOneEntryALine) == 0;
  } catch (const CoinError&) {  // the file cannot be opened
    return false;
  }
}

void ModelFiles::begin_cycle(const std::string& path) {
  path_ = path;
  std::error_code ignored;
  is_folder_ = std::filesystem::is_directory(path, ignored);
  has_first_ = has_failed_ = false;
}

void ModelFiles::write(const lp::Milp& milp, bool is_relaxation) {
  if (path_.empty() || (!is_folder_ && (has_first_ || is_relaxation))) return;
  has_first_ = true;
  ++written_;
  const std::string path = is_folder_ ? path_ + "/" + std::to_string(written_) + ".mps" : path_;
  if (!write_mps(milp, path)) has_failed_ = true;
}

}  // namespace muster::cbc
