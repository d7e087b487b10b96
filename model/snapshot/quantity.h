// Exact quantities, durations and instants: parsed from the text of a line, in whole units and without a floating-point
// step.
//
// Errors: InputError with code InvalidValue, a message for people and an empty path, which the reader of the line fills
// in. Cost: O(length of the text).
#pragma once

#include <cstdint>
#include <string_view>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// (-1)^negative x mantissa x 10^power_of_ten x 2^power_of_two, exactly; a mantissa of at most 36 digits.
struct Quantity {
  unsigned __int128 mantissa = 0;
  std::int32_t power_of_ten = 0;
  std::int32_t power_of_two = 0;
  bool negative = false;  // never with a mantissa of 0
};

// A Kubernetes quantity: an optional sign, digits with at most one point, and one of n u m (none) k M G T P E, Ki Mi Gi
// Ti Pi Ei or a decimal exponent (e3, E-2). Upper and lower case differ; `E` alone is exa.
Result<Quantity> parse_quantity(std::string_view text);

// A JSON number token: as above, with an exponent only.
Result<Quantity> parse_number(std::string_view token);

Quantity quantity_of(std::int64_t value);
Quantity quantity_of(std::uint64_t value);

enum class QuantityUnit : std::uint8_t { kOne, kThousandth, kMillionth, kBillionth, kMebi };
enum class Rounding : std::uint8_t { kDown, kUp, kRefuse };  // kRefuse: what is not whole is an error

// The number of units in the quantity. Errors: negative, beyond 64 bits, not whole if rounding is refused.
Result<std::int64_t> count_units(const Quantity& quantity, QuantityUnit unit, Rounding rounding);

// "90s", "5m", "1h30m", "1.5h", "100ms": numbers with a unit of h m s ms us ns, added up. Parts of a nanosecond are
// dropped.
Result<Nanoseconds> parse_duration(std::string_view text);
Result<Nanoseconds> duration_of_seconds(const Quantity& seconds);

// RFC 3339 with `Z` or an offset and any number of decimals. Parts of a nanosecond are dropped (towards the past).
Result<Nanoseconds> parse_instant(std::string_view text);
Result<Nanoseconds> instant_of_seconds(const Quantity& seconds);

}  // namespace muster
