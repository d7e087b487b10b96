#include "io/json/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/json/json_document.h"
#include "model/base/require.h"

namespace muster::json {

namespace {

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

// Whether all eight characters are plain: no byte of the word is below 0x20, or zero once the character is taken out of
// it (Mycroft's test; a byte above 0x7F is never one of them).
bool are_plain(const char* characters) {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101U, kHighs = kOnes * 0x80U;
  std::uint64_t word = 0;
  std::memcpy(&word, characters, sizeof word);
  const auto below = [](std::uint64_t w, std::uint64_t bound) { return (w - kOnes * bound) & ~w & kHighs; };
  return (below(word, 0x20) | below(word ^ (kOnes * std::uint64_t{'"'}), 1) |
          below(word ^ (kOnes * std::uint64_t{'\\'}), 1)) == 0;
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view kHexadecimal = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default: {
      const auto code = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kHexadecimal[code >> 4];
      out += kHexadecimal[code & 15];
    }
  }
}

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 40> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), result.ptr);
}

bool is_power_of_ten(std::int64_t number) {
  while (number > 1 && number % 10 == 0) number /= 10;
  return number == 1;
}

}  // namespace

JsonWriter& JsonWriter::string(std::string_view text) {
  MUSTER_REQUIRE_SLOW(is_utf8(text));
  out_ += '"';
  std::size_t written = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (text.size() - at >= 8 && are_plain(text.data() + at)) at += 8;
    if (at == text.size()) break;
    if (is_plain(text[at])) continue;
    out_.append(text, written, at - written);
    append_escape(out_, text[at]);
    written = at + 1;
  }
  out_.append(text, written);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::decimal(std::int64_t value, std::int64_t scale) {
  MUSTER_REQUIRE_SLOW(is_power_of_ten(scale));
  std::uint64_t magnitude = static_cast<std::uint64_t>(value);
  if (value < 0) {
    out_ += '-';
    magnitude = std::uint64_t{0} - magnitude;
  }
  const auto divisor = static_cast<std::uint64_t>(scale);
  append_number(out_, magnitude / divisor);
  std::uint64_t rest = magnitude % divisor;
  if (rest == 0) return *this;
  out_ += '.';
  for (std::uint64_t unit = divisor / 10; rest != 0; unit /= 10) {
    out_ += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  append_number(out_, std::isnan(value) ? 0.0 : std::clamp(value, -kLargest, kLargest));
  return *this;
}

}  // namespace muster::json
