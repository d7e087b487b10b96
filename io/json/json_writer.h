// Appends JSON to a string: no locale, no streams, every number exact or the shortest that reads back as the same.
//
//   json.object().member("name", name).key("pods").array();
//   for (const std::string& pod : pods) json.value(pod);
//   json.end().end();
//
// Commas come by themselves: one is written unless the text ends where a value may begin, at its own beginning or after
// a line feed, a bracket, a colon or a comma. So several writers may write one text, one after the other. Cost: about
// 1 ns a byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/base/require.h"

namespace muster::json {

// `value / scale` exactly; the scale is a power of ten.
struct Exact {
  std::int64_t value = 0, scale = 1;
};

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  // Structure. end() closes what this writer has opened last. Requires that something is open, at most 64 deep, and a
  // key before each value of an object.
  JsonWriter& object() { return open('{'); }
  JsonWriter& array() { return open('['); }
  JsonWriter& end() {
    MUSTER_REQUIRE(depth_ > 0);
    MUSTER_REQUIRE_SLOW(!awaits_value());
    --depth_;
    out_ += is_object_at(depth_) ? '}' : ']';
    return *this;
  }
  // A name of the program's own, of at most 64 plain characters: it is not escaped.
  JsonWriter& key(std::string_view name) {
    constexpr std::size_t kLongest = 64;
    MUSTER_REQUIRE(name.size() <= kLongest);
    MUSTER_REQUIRE_SLOW(depth_ == 0 || is_object_at(depth_ - 1));
    char text[kLongest + 4];  // written as a whole: one append is faster than four
    text[0] = ',';
    text[1] = '"';
    std::memcpy(text + 2, name.data(), name.size());
    text[name.size() + 2] = '"';
    text[name.size() + 3] = ':';
    const std::size_t begin = is_separated() ? 1 : 0;
    out_.append(text + begin, name.size() + 4 - begin);
    return *this;
  }
  // Any other name. Requires UTF-8.
  JsonWriter& any_key(std::string_view name) {
    MUSTER_REQUIRE_SLOW(depth_ == 0 || is_object_at(depth_ - 1));
    if (!is_separated()) out_ += ',';
    string(name);
    out_ += ':';
    return *this;
  }
  // A text, a number, Exact, true or false.
  template <class Value>
  JsonWriter& value(const Value& value) {
    item();
    if constexpr (std::is_same_v<Value, bool>)
      return raw(value ? "true" : "false");
    else if constexpr (std::is_same_v<Value, Exact>)
      return decimal(value.value, value.scale);
    else if constexpr (std::is_integral_v<Value>)
      return integer(static_cast<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<Value>)
      return number(value);
    else
      return string(value);
  }
  template <class Value>
  JsonWriter& member(std::string_view name, const Value& content) {
    return key(name).value(content);
  }
  // The place of an element that one of the functions below writes next.
  JsonWriter& item() {
    MUSTER_REQUIRE_SLOW(depth_ == 0 || awaits_value() || !is_object_at(depth_ - 1));
    if (!is_separated()) out_ += ',';
    return *this;
  }

  // Pieces, without any comma.
  //
  // Text that is JSON.
  JsonWriter& raw(std::string_view json) {
    out_ += json;
    return *this;
  }
  // A comma, unless it is the first call since `first` was set.
  JsonWriter& separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
    return *this;
  }
  // Quoted and escaped. Requires UTF-8.
  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::int64_t value);
  // value / scale exactly, without an exponent. Requires scale to be a power of ten.
  JsonWriter& decimal(std::int64_t value, std::int64_t scale);
  // A double; what is not finite becomes the largest that is.
  JsonWriter& number(double value);

 private:
  JsonWriter& open(char bracket) {
    item();
    MUSTER_REQUIRE(depth_ < 64);
    const std::uint64_t bit = std::uint64_t{1} << depth_;
    objects_ = bracket == '{' ? objects_ | bit : objects_ & ~bit;
    ++depth_;
    out_ += bracket;
    return *this;
  }
  bool is_object_at(int depth) const { return (objects_ >> depth & 1U) != 0; }
  bool awaits_value() const { return out_.ends_with(':'); }
  // Whether the next element follows without a comma. No value ends in one of these characters.
  bool is_separated() const {
    if (out_.empty()) return true;
    switch (out_.back()) {
      case '{':
      case '[':
      case ':':
      case ',':
      case '\n':
        return true;
      default:
        return false;
    }
  }

  std::string& out_;
  std::uint64_t objects_ = 0;  // by depth, whether it is an object
  int depth_ = 0;
};

}  // namespace muster::json
