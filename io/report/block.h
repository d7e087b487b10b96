// The encoding of the data in a report page: columns instead of objects, names without the prefix shared with the
// previous one.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/json/json_writer.h"
#include "model/base/index.h"

namespace muster::reporting {

// "key":[...] of a range; `value(item)` is a whole number. Cost: O(items).
template <class Range, class Value>
void write_column(json::JsonWriter& json, std::string_view key, const Range& items, const Value& value) {
  json.key(key).array();
  for (const auto& item : items) json.value(static_cast<std::int64_t>(value(item)));
  json.end();
}

// {"shared":[...],"rest":[...]}: of each name how much of its beginning it shares with the one before, in UTF-16 units
// as scripts count, and what follows. Requires UTF-8. Cost: O(bytes).
void write_names(json::JsonWriter& json, const std::vector<std::string_view>& names);

// Texts by number, each kept once; 0 is the empty text.
class TextTable {
 public:
  TextTable() { number(""); }
  std::size_t number(std::string_view text);
  // The texts as a list, in order of their numbers.
  void write(json::JsonWriter& json) const;

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> texts_;
};

// JSON that may stand in a script element of a page: `<`, `>`, `&` and the two line separators of Unicode as escapes.
// Requires that they occur inside strings only, as in all JSON. Cost: one pass.
std::string script_safe(std::string_view json);

// Columns that follow others in an object of a report page.
//
// -1: none.
template <class Tag>
std::int64_t number_of(Index<Tag> index) {
  return index.is_none() ? -1 : static_cast<std::int64_t>(index.value());
}

// To thousandths, which no curve shows.
inline void write_number(json::JsonWriter& json, double value) { json.decimal(std::llround(value * 1000), 1000); }

// "key":[...] of a range; `value(item)` is a number. Cost: O(items).
template <class Range, class Value>
void write_numbers(json::JsonWriter& json, std::string_view key, const Range& items, const Value& value) {
  json.key(key).array();
  for (const auto& item : items) write_number(json.item(), value(item));
  json.end();
}

// The page that draws a report: one HTML file without any network requests.
//
// The page with its data, a JSON object as io/report/page/README.md describes. Requires valid JSON. The content of its
// strings stays data: nothing in it can end the script element that holds it.
std::string report_page(std::string_view data);

}  // namespace muster::reporting
