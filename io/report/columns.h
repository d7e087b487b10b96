// Columns that follow others in an object of a report page.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "io/json/json_writer.h"
#include "io/report/block.h"
#include "model/base/index.h"

namespace muster::reporting {

// -1: none.
template <class Tag>
std::int64_t number_of(Index<Tag> index) {
  return index.is_none() ? -1 : static_cast<std::int64_t>(index.value());
}

// To thousandths, which no curve shows.
inline void write_number(json::JsonWriter& json, double value) { json.decimal(std::llround(value * 1000), 1000); }

// ,"key":[...] of a range; `value(item)` is a number. Cost: O(items).
template <class Range, class Value>
void add_numbers(json::JsonWriter& json, std::string_view key, const Range& items, const Value& value) {
  json.raw(",").string(key).raw(":[");
  bool first = true;
  for (const auto& item : items) {
    json.separate(first);
    write_number(json, value(item));
  }
  json.raw("]");
}

// The same; `value(item)` is a whole number.
template <class Range, class Value>
void add_counts(json::JsonWriter& json, std::string_view key, const Range& items, const Value& value) {
  json.raw(",");
  write_column(json, key, items, value);
}

}  // namespace muster::reporting
