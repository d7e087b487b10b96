#include "cli/answers/table_order.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <variant>

namespace muster::cli {
namespace {

bool equal_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// None: the value is no number.
std::optional<double> number_of(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* exact = std::get_if<Decimal>(&value)) {
    return static_cast<double>(exact->value) / static_cast<double>(exact->scale);
  }
  return std::nullopt;
}

// Whether a stands before b.
bool comes_first(const Value& a, const Value& b) {
  const bool a_is_unknown = std::holds_alternative<std::monostate>(a);
  const bool b_is_unknown = std::holds_alternative<std::monostate>(b);
  if (a_is_unknown || b_is_unknown) return b_is_unknown && !a_is_unknown;
  const std::optional<double> x = number_of(a), y = number_of(b);
  if (x && y) return *x > *y;
  return value_text(a) < value_text(b);
}

}  // namespace

bool sort_rows(Table& table, std::string_view column) {
  const auto found = std::ranges::find_if(table.columns, [&](const Column& known) {
    return equal_letters(known.key, column) || (!known.title.empty() && equal_letters(known.title, column));
  });
  if (found == table.columns.end()) return false;
  const auto at = static_cast<std::size_t>(found - table.columns.begin());
  std::ranges::stable_sort(table.rows, [&](const std::vector<Cell>& a, const std::vector<Cell>& b) {
    return comes_first(a[at].value, b[at].value);
  });
  return true;
}

std::vector<std::string> sortable_columns(const Table& table) {
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(column.key);
  return keys;
}

std::size_t limit_rows(Table& table, std::size_t most) {
  const std::size_t removed = table.rows.size() - std::min(most, table.rows.size());
  table.rows.resize(table.rows.size() - removed);
  return removed;
}

}  // namespace muster::cli
