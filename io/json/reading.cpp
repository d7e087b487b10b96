#include "io/json/reading.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::json {

namespace {

// The first duplicate key; an empty value if there is none.
JsonMember find_duplicate(JsonValue object) {
  std::vector<JsonMember> members;
  for (const JsonMember member : object.members()) members.push_back(member);
  std::ranges::stable_sort(members, {}, &JsonMember::key);
  const auto found = std::ranges::adjacent_find(members, {}, &JsonMember::key);
  return found == members.end() ? JsonMember{} : *std::next(found);
}

std::string range_message(std::int64_t least, std::int64_t most) {
  if (most == std::numeric_limits<std::int64_t>::max())
    return "must be a whole number of at least " + std::to_string(least);
  return "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

}  // namespace

bool Reading::fail(JsonValue culprit, ErrorCode code, std::string message) {
  error = {code, with_paths ? path_of(culprit) : std::string(), std::move(message)};
  return false;
}

bool Reading::fail_missing(JsonValue object, std::string_view key) {
  static_cast<void>(fail(object, ErrorCode::kMissingKey, "required key \"" + std::string(key) + "\" is missing"));
  append_path_key(error.path, key);
  return false;
}

bool Reading::fail_unknown(JsonValue culprit, std::string_view key) {
  return fail(culprit, ErrorCode::kUnknownKey, "unknown key \"" + std::string(key) + "\"");
}

bool Reading::fail_duplicate(JsonValue culprit, std::string_view key) {
  return fail(culprit, ErrorCode::kDuplicateKey, "duplicate key \"" + std::string(key) + "\"");
}

bool Reading::expect(JsonValue value, JsonKind kind) {
  if (value.is(kind)) return true;
  return fail(value, ErrorCode::kWrongType,
              "expected " + std::string(kind_name(kind)) + ", found " + std::string(kind_name(value.kind())));
}

bool Reading::expect_text_or_number(JsonValue value, std::string_view expected) {
  switch (value.kind()) {
    case JsonKind::kString:
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
    case JsonKind::kDouble:
      return true;
    default:
      return fail(value, ErrorCode::kWrongType,
                  "expected " + std::string(expected) + " (a string or a number), found " +
                      std::string(kind_name(value.kind())));
  }
}

bool Reading::check_duplicates(JsonValue value) {
  if (value.is(JsonKind::kObject)) {
    if (const JsonMember twice = find_duplicate(value); twice.value) return fail_duplicate(twice.value, twice.key);
    for (const JsonMember member : value.members()) {
      if (!check_duplicates(member.value)) return false;
    }
  } else if (value.is(JsonKind::kArray)) {
    for (const JsonValue element : value.elements()) {
      if (!check_duplicates(element)) return false;
    }
  }
  return true;
}

bool Reading::read(JsonValue value, std::string_view& out) {
  if (!expect(value, JsonKind::kString)) return false;
  out = keep(value.string());
  return true;
}

bool Reading::read_name(JsonValue value, std::string_view& out) {
  if (!read(value, out)) return false;
  if (out.empty()) return fail_value(value, "must not be empty; omit the key instead");
  return true;
}

bool Reading::read(JsonValue value, bool& out) {
  out = value.is(JsonKind::kTrue);
  if (out || value.is(JsonKind::kFalse)) return true;
  return expect(value, JsonKind::kTrue);
}

bool Reading::read_integer(JsonValue value, std::int64_t least, std::int64_t most, std::int64_t& out) {
  if (value.is(JsonKind::kInteger)) {
    out = value.integer();
  } else {
    Quantity number;
    if (!read_number(value, number)) return false;
    const bool negative = std::exchange(number.negative, false);
    const Result<std::int64_t> count = count_units(number, QuantityUnit::kOne, Rounding::kRefuse);
    if (!count) return fail_value(value, range_message(least, most));
    out = negative ? -*count : *count;
  }
  if (out < least || out > most) return fail_value(value, range_message(least, most));
  return true;
}

bool Reading::read_count(JsonValue value, std::int32_t least, std::int32_t& out) {
  std::int64_t wide = 0;
  if (!read_integer(value, least, std::numeric_limits<std::int32_t>::max(), wide)) return false;
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool Reading::read_weight(JsonValue value, Zero zero, double& out) {
  switch (value.kind()) {
    case JsonKind::kInteger:
      out = static_cast<double>(value.integer());
      break;
    case JsonKind::kUnsigned:
      out = static_cast<double>(value.unsigned_integer());
      break;
    case JsonKind::kDouble:
      out = value.floating();
      break;
    default:
      return expect(value, JsonKind::kDouble);
  }
  if (!std::isfinite(out) || out < 0) return fail_value(value, "a weight must not be negative");
  if (out == 0 && zero == Zero::kRefused) return fail_value(value, "this weight must be greater than 0");
  return true;
}

bool Reading::read_number(JsonValue value, Quantity& out) {
  if (value.is(JsonKind::kInteger)) {
    out = quantity_of(value.integer());
    return true;
  }
  if (value.is(JsonKind::kUnsigned)) {
    out = quantity_of(value.unsigned_integer());
    return true;
  }
  if (!expect(value, JsonKind::kDouble)) return false;
  const Result<Quantity> number = parse_number(number_text(value));
  if (!number) return fail_value(value, number.error().message);
  out = *number;
  return true;
}

bool Reading::read_quantity(JsonValue value, Quantity& out) {
  if (!expect_text_or_number(value, "a quantity")) return false;
  if (!value.is(JsonKind::kString)) return read_number(value, out);
  const Result<Quantity> quantity = parse_quantity(value.string());
  if (!quantity) return fail_value(value, quantity.error().message);
  out = *quantity;
  return true;
}

bool Reading::read_amount(JsonValue value, Conversion conversion, std::int64_t& out) {
  Quantity quantity;
  if (!read_quantity(value, quantity)) return false;
  const Result<std::int64_t> count = count_units(quantity, conversion.unit, conversion.rounding);
  if (!count) return fail_value(value, count.error().message);
  out = *count;
  return true;
}

bool Reading::read_duration(JsonValue value, Nanoseconds& out) {
  Quantity seconds;
  if (!expect_text_or_number(value, "a duration")) return false;
  if (!value.is(JsonKind::kString) && !read_number(value, seconds)) return false;
  const Result<Nanoseconds> duration =
      value.is(JsonKind::kString) ? parse_duration(value.string()) : duration_of_seconds(seconds);
  if (!duration) return fail_value(value, duration.error().message);
  out = *duration;
  return true;
}

bool Reading::read_instant(JsonValue value, Nanoseconds& out) {
  Quantity seconds;
  if (!expect_text_or_number(value, "an instant")) return false;
  if (!value.is(JsonKind::kString) && !read_number(value, seconds)) return false;
  const Result<Nanoseconds> instant =
      value.is(JsonKind::kString) ? parse_instant(value.string()) : instant_of_seconds(seconds);
  if (!instant) return fail_value(value, instant.error().message);
  out = *instant;
  return true;
}

bool Reading::read_names(JsonValue value, std::vector<std::string_view>& out) {
  if (!expect(value, JsonKind::kArray)) return false;
  out.reserve(value.size());
  for (const JsonValue element : value.elements()) {
    if (!read_name(element, out.emplace_back())) return false;
  }
  return true;
}

bool Reading::read_labels(JsonValue value, Labels& out) {
  if (!expect(value, JsonKind::kObject)) return false;
  out.reserve(value.size());
  for (const JsonMember member : value.members()) {
    if (nulls_are_absent && member.value.is(JsonKind::kNull)) continue;
    if (!expect(member.value, JsonKind::kString)) return false;
    out.emplace_back(keep(member.key), keep(member.value.string()));
  }
  std::ranges::sort(out);
  const auto twice = std::ranges::adjacent_find(out, {}, &Labels::value_type::first);
  if (twice == out.end()) return true;
  const JsonMember duplicate = find_duplicate(value);
  return fail_duplicate(duplicate.value, duplicate.key);
}

}  // namespace muster::json
