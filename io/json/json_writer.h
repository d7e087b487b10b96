// Appends JSON to a string: no locale, no streams, every number exact or the shortest that reads back as the same.
//
// The caller writes the structure as text and the values by these functions; nothing is checked. Cost: about 1 ns a
// byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::json {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

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
  std::string& out_;
};

}  // namespace muster::json
