// Arithmetic on 64-bit integers that saturates at the limit instead of wrapping round.
#pragma once

#include <cstdint>
#include <limits>

#include "model/base/require.h"

namespace muster {

inline constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kLargest : kSmallest;
}

inline std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? kLargest : kSmallest;
}

inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kLargest : kSmallest;
}

__extension__ using Wide = __int128;  // for exact products of two 64-bit integers

inline std::int64_t saturate(Wide value) {
  if (value > kLargest) return kLargest;
  if (value < kSmallest) return kSmallest;
  return static_cast<std::int64_t>(value);
}

// a / b rounded to the nearest, halves up. Requires a >= 0, b > 0.
inline std::int64_t divide_rounded(Wide a, Wide b) {
  MUSTER_REQUIRE_SLOW(a >= 0 && b > 0);
  return saturate((2 * a + b) / (2 * b));
}

}  // namespace muster
