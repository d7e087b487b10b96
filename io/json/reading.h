// What all readers of parsed lines share: typed values out of JSON, the first error with its path, and tables of known
// keys.
//
// Every function returns false once something is wrong; `error` then describes it, and reading stops.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/json_document.h"
#include "model/snapshot/quantity.h"
#include "model/snapshot/snapshot.h"

namespace muster::json {

// The keys that the readers know, object by object, from the tables that they read with.
//
// `name` is that of the object's definition in the JSON Schema of docs/.
struct KnownObject {
  std::string name;
  std::vector<std::string> keys, required;
};

struct Reading {
  bool lenient = false;
  StringPool* text = nullptr;  // storage of strings
  InputError error;
  NumberCursor numbers = {};
  bool with_paths = true;         // errors contain the path; costs a walk through the line each
  bool passes_over_once = false;  // unknown keys of the next object are passed over, but not of those in it
  bool nulls_are_absent = false;  // as in Kubernetes: members of objects whose value is null are not there

  [[nodiscard]] bool fail(JsonValue culprit, ErrorCode code, std::string message);
  [[nodiscard]] bool fail_value(JsonValue culprit, std::string message) {
    return fail(culprit, ErrorCode::kInvalidValue, std::move(message));
  }
  [[nodiscard]] bool fail_missing(JsonValue object, std::string_view key);
  [[nodiscard]] bool fail_unknown(JsonValue culprit, std::string_view key);
  [[nodiscard]] bool fail_duplicate(JsonValue culprit, std::string_view key);

  std::string_view number_text(JsonValue number) { return json::number_text(number, numbers); }

  [[nodiscard]] bool expect(JsonValue value, JsonKind kind);
  [[nodiscard]] bool expect_text_or_number(JsonValue value, std::string_view expected);
  // Whether no object in `value`, itself included, has a key twice. Recursion is bounded by the document's depth.
  [[nodiscard]] bool check_duplicates(JsonValue value);

  std::string_view keep(std::string_view characters) { return text->store(characters); }
  // As keep, but what equals `last` is not kept again.
  std::string_view keep(std::string_view characters, std::string_view& last) {
    if (characters != last) last = keep(characters);
    return last;
  }

  [[nodiscard]] bool read(JsonValue value, std::string_view& out);       // any string
  [[nodiscard]] bool read_name(JsonValue value, std::string_view& out);  // a string that is not empty
  [[nodiscard]] bool read(JsonValue value, bool& out);
  [[nodiscard]] bool read_integer(JsonValue value, std::int64_t least, std::int64_t most, std::int64_t& out);
  // A whole number >= `least` in 32 bits.
  [[nodiscard]] bool read_count(JsonValue value, std::int32_t least, std::int32_t& out);
  // A finite number, >= 0, or > 0 where zero makes no sense.
  enum class Zero : std::uint8_t { kAllowed, kRefused };
  [[nodiscard]] bool read_weight(JsonValue value, Zero zero, double& out);

  [[nodiscard]] bool read_number(JsonValue value, Quantity& out);    // a JSON number
  [[nodiscard]] bool read_quantity(JsonValue value, Quantity& out);  // a JSON number, or a string with a suffix
  struct Conversion {
    QuantityUnit unit = QuantityUnit::kOne;
    Rounding rounding = Rounding::kDown;
  };
  [[nodiscard]] bool read_amount(JsonValue value, Conversion conversion, std::int64_t& out);
  [[nodiscard]] bool read_duration(JsonValue value, Nanoseconds& out);
  [[nodiscard]] bool read_instant(JsonValue value, Nanoseconds& out);

  [[nodiscard]] bool read_names(JsonValue value, std::vector<std::string_view>& out);  // a list of names
  [[nodiscard]] bool read_labels(JsonValue value, Labels& out);                        // an object of strings
};

// One key of an object of the format, and the handler of its value. `Input` is Reading or an extension of it.
template <class Input, class Target>
struct Field {
  std::string_view key;
  bool (*read)(Input&, JsonValue, Target&);
  bool required = false;
};

// The order of keys, so that objects of one list, which mostly have equal keys, are read without searching.
struct KeyOrder {
  static constexpr std::size_t kMaxFields = 48;
  std::array<std::uint8_t, kMaxFields + 1> next{};  // by 1 + position of the key before; 0: none
};

// Reads every member of `object` by its field. Errors: WrongType, UnknownKey, DuplicateKey, MissingKey, and the fields'
// own. A lenient reader passes over unknown keys, but never over duplicate ones.
template <class Input, class Target, std::size_t N>
[[nodiscard]] bool read_fields(Input& input, JsonValue object, const std::array<Field<Input, Target>, N>& fields,
                               Target& target, KeyOrder& order) {
  static_assert(N <= KeyOrder::kMaxFields);
  const bool passes_over = std::exchange(input.passes_over_once, false) || input.lenient;
  if (!input.expect(object, JsonKind::kObject)) return false;
  std::uint64_t seen = 0;
  std::size_t before = 0;
  bool unknown = false;
  for (const JsonMember member : object.members()) {
    if (input.nulls_are_absent && member.value.is(JsonKind::kNull)) continue;
    std::size_t at = order.next[before];
    if (fields[at].key != member.key) {
      for (at = 0; at < N && fields[at].key != member.key;) ++at;
      if (at == N) {
        if (!passes_over) return input.fail_unknown(member.value, member.key);
        unknown = true;
        continue;
      }
      order.next[before] = static_cast<std::uint8_t>(at);
    }
    before = at + 1;
    const std::uint64_t bit = std::uint64_t{1} << at;
    if ((seen & bit) != 0) return input.fail_duplicate(member.value, member.key);
    seen |= bit;
    if (!fields[at].read(input, member.value, target)) return false;
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (fields[i].required && (seen >> i & 1) == 0) return input.fail_missing(object, fields[i].key);
  }
  return !unknown || input.check_duplicates(object);
}

template <class Input, class Target, std::size_t N>
[[nodiscard]] bool read_fields(Input& input, JsonValue object, const std::array<Field<Input, Target>, N>& fields,
                               Target& target) {
  KeyOrder order;
  return read_fields(input, object, fields, target, order);
}

// A list of objects of one kind, appended to `out`.
template <class Input, class Target, std::size_t N>
[[nodiscard]] bool read_list(Input& input, JsonValue list, const std::array<Field<Input, Target>, N>& fields,
                             std::vector<Target>& out) {
  if (!input.expect(list, JsonKind::kArray)) return false;
  KeyOrder order;
  out.reserve(out.size() + list.size());
  for (const JsonValue element : list.elements()) {
    if (!read_fields(input, element, fields, out.emplace_back(), order)) return false;
  }
  return true;
}

template <class Input, class Target, std::size_t N>
KnownObject known_object(std::string_view name, const std::array<Field<Input, Target>, N>& fields) {
  KnownObject object{std::string(name), {}, {}};
  for (const auto& field : fields) {
    object.keys.emplace_back(field.key);
    if (field.required) object.required.emplace_back(field.key);
  }
  return object;
}

// Reads an enumeration's value by its name.
template <class Value, std::size_t N>
[[nodiscard]] bool read_choice(Reading& reading, JsonValue value,
                               const std::array<std::pair<std::string_view, Value>, N>& choices, Value& out) {
  if (!reading.expect(value, JsonKind::kString)) return false;
  const std::string_view name = value.string();
  std::string known;
  for (const auto& [choice, result] : choices) {
    if (choice == name) {
      out = result;
      return true;
    }
    known += known.empty() ? "" : ", ";
    known += choice;
  }
  return reading.fail_value(value, "\"" + std::string(name) + "\" is not one of " + known);
}

}  // namespace muster::json
