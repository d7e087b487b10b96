#include "model/snapshot/quantity.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace muster {

namespace {

using Wide = unsigned __int128;

// With at most 36 digits, 10^-55 of a quantity is below one unit even in Ei (36 digits x 2^60 < 10^55), which is what
// lets scale() stop at 5^54, the last power of five below 2^126.
constexpr std::int32_t kMaxDigits = 36;
constexpr std::int32_t kMaxFives = 54;
constexpr std::int32_t kMaxExponent = 100'000;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr Wide kWideLimit = Wide{1} << 126;

InputError invalid(std::string message) { return {ErrorCode::kInvalidValue, "", std::move(message)}; }

// The quoted text; a long one is cut, but never inside a UTF-8 character (later bytes of a character begin with the
// bits 10).
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 64;
  std::size_t shown = std::min(text.size(), kShown);
  while (shown > 0 && shown < text.size() && (static_cast<unsigned char>(text[shown]) & 0xC0) == 0x80) --shown;
  std::string out = "\"";
  out += text.substr(0, shown);
  out += shown < text.size() ? "...\"" : "\"";
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t count) { at_ += count; }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_digit() const { return !at_end() && is_digit(text_[at_]); }
  int digit() { return text_[at_++] - '0'; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Digits with at most one point among or around them. Trailing zeros are kept back until a digit follows, so that they
// never use up mantissa. False: no digit, or too many significant ones.
bool scan_decimal(Scanner& scanner, Quantity& out) {
  std::int32_t zeros = 0, digits = 0, decimals = 0;
  bool any = false, after_point = false;
  for (;; any = true) {
    if (!after_point && scanner.take('.')) after_point = true;
    if (!scanner.at_digit()) break;
    const int digit = scanner.digit();
    decimals += after_point ? 1 : 0;
    if (digit == 0) {
      zeros += out.mantissa == 0 ? 0 : 1;
      continue;
    }
    digits = out.mantissa == 0 ? 1 : digits + zeros + 1;
    if (digits > kMaxDigits) return false;
    for (; zeros > 0; --zeros) out.mantissa *= 10;
    out.mantissa = out.mantissa * 10 + static_cast<unsigned>(digit);
  }
  out.power_of_ten = zeros - decimals;
  return any;
}

// `e` or `E` has been read. An extreme exponent is clamped to one with the same effect.
bool scan_exponent(Scanner& scanner, Quantity& out) {
  const bool negative = scanner.take('-');
  if (!negative) scanner.take('+');
  if (!scanner.at_digit()) return false;
  std::int32_t exponent = 0;
  while (scanner.at_digit()) {
    const int digit = scanner.digit();
    exponent = std::min(exponent * 10 + digit, kMaxExponent);
  }
  out.power_of_ten += negative ? -exponent : exponent;
  return true;
}

struct Suffix {
  std::string_view text;
  std::int32_t power_of_ten, power_of_two;
};

constexpr std::array<Suffix, 16> kSuffixes = {{{"", 0, 0},
                                               {"n", -9, 0},
                                               {"u", -6, 0},
                                               {"m", -3, 0},
                                               {"k", 3, 0},
                                               {"M", 6, 0},
                                               {"G", 9, 0},
                                               {"T", 12, 0},
                                               {"P", 15, 0},
                                               {"E", 18, 0},
                                               {"Ki", 0, 10},
                                               {"Mi", 0, 20},
                                               {"Gi", 0, 30},
                                               {"Ti", 0, 40},
                                               {"Pi", 0, 50},
                                               {"Ei", 0, 60}}};

bool scan_suffix(Scanner& scanner, Quantity& out) {
  for (const Suffix& suffix : kSuffixes) {
    if (scanner.rest() != suffix.text) continue;
    out.power_of_ten += suffix.power_of_ten;
    out.power_of_two += suffix.power_of_two;
    return true;
  }
  if (!scanner.take('e') && !scanner.take('E')) return false;
  return scan_exponent(scanner, out) && scanner.at_end();
}

struct Units {
  Wide whole = 0;
  bool rest = false;  // something is left over
  bool too_large = false;
};

Units shift(Wide whole, std::int32_t bits, bool rest) {
  if (bits <= 0) {
    const std::int32_t right = std::min(-bits, 127);
    return {whole >> right, rest || (whole & ((Wide{1} << right) - 1)) != 0, false};
  }
  for (; bits > 0; --bits) {
    if (whole >= kWideLimit) return {0, false, true};
    whole *= 2;
  }
  return {whole, rest, false};
}

// whole + remainder / divisor, times 2^bits: long division, one binary digit at a time.
Units shift_fraction(Wide whole, Wide remainder, Wide divisor, std::int32_t bits) {
  for (; bits > 0; --bits) {
    if (whole >= kWideLimit) return {0, false, true};
    remainder *= 2;
    const bool carry = remainder >= divisor;
    if (carry) remainder -= divisor;
    whole = whole * 2 + (carry ? 1 : 0);
  }
  return {whole, remainder != 0, false};
}

// mantissa x 10^tens x 2^twos, the whole part.
Units scale(Wide mantissa, std::int32_t tens, std::int32_t twos) {
  if (mantissa == 0) return {};
  if (tens >= 0) {
    for (; tens > 0; --tens) {
      if (mantissa >= kWideLimit / 10) return {0, false, true};
      mantissa *= 10;
    }
    return shift(mantissa, twos, false);
  }
  if (-tens > kMaxFives) return {0, true, false};
  Wide fives = 1;
  for (std::int32_t i = 0; i < -tens; ++i) fives *= 5;
  const Wide whole = mantissa / fives, remainder = mantissa % fives;
  const std::int32_t bits = twos + tens;
  return bits > 0 ? shift_fraction(whole, remainder, fives, bits) : shift(whole, bits, remainder != 0);
}

Units scale_to(const Quantity& quantity, QuantityUnit unit) {
  std::int32_t tens = quantity.power_of_ten, twos = quantity.power_of_two;
  switch (unit) {
    case QuantityUnit::kOne:
      break;
    case QuantityUnit::kThousandth:
      tens += 3;
      break;
    case QuantityUnit::kMillionth:
      tens += 6;
      break;
    case QuantityUnit::kBillionth:
      tens += 9;
      break;
    case QuantityUnit::kMebi:
      twos -= 20;
      break;
  }
  return scale(quantity.mantissa, tens, twos);
}

struct DurationUnit {
  std::string_view text;
  std::int64_t nanoseconds;
};

// Longer names before their own beginnings.
constexpr std::array<DurationUnit, 8> kDurationUnits = {{{"ms", 1'000'000},
                                                         {"us", 1'000},
                                                         {"\xC2\xB5s", 1'000},  // the two signs for micro
                                                         {"\xCE\xBCs", 1'000},
                                                         {"ns", 1},
                                                         {"h", 3'600 * kNanosecondsPerSecond},
                                                         {"m", 60 * kNanosecondsPerSecond},
                                                         {"s", kNanosecondsPerSecond}}};

std::optional<DurationUnit> take_duration_unit(Scanner& scanner) {
  for (const DurationUnit& unit : kDurationUnits) {
    if (!scanner.rest().starts_with(unit.text)) continue;
    scanner.skip(unit.text.size());
    return unit;
  }
  return std::nullopt;
}

// Exactly `count` digits.
std::optional<int> take_digits(Scanner& scanner, int count) {
  int value = 0;
  for (; count > 0; --count) {
    if (!scanner.at_digit()) return std::nullopt;
    value = value * 10 + scanner.digit();
  }
  return value;
}

bool take_either(Scanner& scanner, char a, char b) { return scanner.take(a) || scanner.take(b); }

// hh:mm, below 24 and 60.
std::optional<int> take_minutes(Scanner& scanner) {
  const auto hours = take_digits(scanner, 2);
  if (!hours || !scanner.take(':')) return std::nullopt;
  const auto minutes = take_digits(scanner, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return *hours * 60 + *minutes;
}

std::optional<int> take_offset_minutes(Scanner& scanner) {
  if (take_either(scanner, 'Z', 'z')) return 0;
  const bool west = scanner.take('-');
  if (!west && !scanner.take('+')) return std::nullopt;
  const auto minutes = take_minutes(scanner);
  if (!minutes) return std::nullopt;
  return west ? -*minutes : *minutes;
}

std::optional<std::int64_t> take_date(Scanner& scanner) {
  const auto year = take_digits(scanner, 4);
  if (!year || !scanner.take('-')) return std::nullopt;
  const auto month = take_digits(scanner, 2);
  if (!month || !scanner.take('-')) return std::nullopt;
  const auto day = take_digits(scanner, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// Decimals of a second, if there are any; nanoseconds.
std::optional<std::int64_t> take_decimals(Scanner& scanner) {
  if (!scanner.take('.')) return 0;
  if (!scanner.at_digit()) return std::nullopt;
  std::int64_t value = 0;
  for (std::int64_t unit = kNanosecondsPerSecond / 10; scanner.at_digit(); unit /= 10) value += scanner.digit() * unit;
  return value;
}

bool fits(__int128 value) { return value <= kLargest && value >= -static_cast<__int128>(kLargest) - 1; }

}  // namespace

Quantity quantity_of(std::uint64_t value) { return {value, 0, 0, false}; }

Quantity quantity_of(std::int64_t value) {
  if (value >= 0) return quantity_of(static_cast<std::uint64_t>(value));
  return {std::uint64_t{0} - static_cast<std::uint64_t>(value), 0, 0, true};
}

Result<Quantity> parse_quantity(std::string_view text) {
  Scanner scanner(text);
  Quantity quantity;
  const bool negative = scanner.take('-');
  if (!negative) scanner.take('+');
  if (!scan_decimal(scanner, quantity) || !scan_suffix(scanner, quantity)) {
    return invalid(quoted(text) +
                   " is not a quantity: a number with one of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent");
  }
  quantity.negative = negative && quantity.mantissa != 0;
  return quantity;
}

Result<Quantity> parse_number(std::string_view token) {
  Scanner scanner(token);
  Quantity quantity;
  const bool negative = scanner.take('-');
  bool good = scan_decimal(scanner, quantity);
  if (good && take_either(scanner, 'e', 'E')) good = scan_exponent(scanner, quantity);
  if (!good || !scanner.at_end()) return invalid(quoted(token) + " is not a number of at most 36 digits");
  quantity.negative = negative && quantity.mantissa != 0;
  return quantity;
}

Result<std::int64_t> count_units(const Quantity& quantity, QuantityUnit unit, Rounding rounding) {
  if (quantity.negative) return invalid("must not be negative");
  const Units units = scale_to(quantity, unit);
  if (units.too_large || units.whole > static_cast<Wide>(kLargest)) return invalid("is too large for 64 bits");
  auto count = static_cast<std::int64_t>(units.whole);
  if (!units.rest || rounding == Rounding::kDown) return count;
  if (rounding == Rounding::kRefuse) return invalid("has more decimals than its unit allows");
  if (count == kLargest) return invalid("is too large for 64 bits");
  return count + 1;
}

Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto refuse = [&] { return invalid(quoted(text) + R"( is not a duration such as "90s", "5m" or "1h30m")"); };
  if (text == "0") return 0;
  if (text.empty()) return refuse();
  Scanner scanner(text);
  __int128 sum = 0;
  while (!scanner.at_end()) {
    Quantity number;
    if (!scan_decimal(scanner, number)) return refuse();
    const auto unit = take_duration_unit(scanner);
    if (!unit) return refuse();
    if (number.mantissa >= kWideLimit / static_cast<Wide>(unit->nanoseconds))
      return invalid(quoted(text) + " is too long");
    number.mantissa *= static_cast<Wide>(unit->nanoseconds);
    const Units units = scale(number.mantissa, number.power_of_ten, 0);
    if (units.too_large || units.whole > static_cast<Wide>(kLargest)) return invalid(quoted(text) + " is too long");
    sum += static_cast<__int128>(units.whole);
    if (!fits(sum)) return invalid(quoted(text) + " is too long");
  }
  return static_cast<Nanoseconds>(sum);
}

Result<Nanoseconds> duration_of_seconds(const Quantity& seconds) {
  return count_units(seconds, QuantityUnit::kBillionth, Rounding::kDown);
}

Result<Nanoseconds> parse_instant(std::string_view text) {
  const auto refuse = [&] { return invalid(quoted(text) + R"( is not an instant such as "2026-11-21T10:00:00Z")"); };
  Scanner scanner(text);
  const auto days = take_date(scanner);
  if (!days || !take_either(scanner, 'T', 't')) return refuse();
  const auto minutes = take_minutes(scanner);
  if (!minutes || !scanner.take(':')) return refuse();
  const auto seconds = take_digits(scanner, 2);
  if (!seconds || *seconds > 59) return refuse();
  const auto nanoseconds = take_decimals(scanner);
  if (!nanoseconds) return refuse();
  const auto offset = take_offset_minutes(scanner);
  if (!offset || !scanner.at_end()) return refuse();
  const std::int64_t total_seconds = *days * 86'400 + (*minutes - *offset) * 60 + *seconds;
  const __int128 total = static_cast<__int128>(total_seconds) * kNanosecondsPerSecond + *nanoseconds;
  if (!fits(total)) return invalid(quoted(text) + " is outside the years 1678 to 2261");
  return static_cast<Nanoseconds>(total);
}

Result<Nanoseconds> instant_of_seconds(const Quantity& seconds) {
  const Units units = scale_to(seconds, QuantityUnit::kBillionth);
  if (units.too_large || units.whole > static_cast<Wide>(kLargest)) return invalid("is too far from the epoch");
  const auto count = static_cast<Nanoseconds>(units.whole);
  if (!seconds.negative) return count;
  if (units.rest && count == kLargest) return invalid("is too far from the epoch");
  return -count - (units.rest ? 1 : 0);
}

}  // namespace muster
