// A stable sort by 64-bit keys that are mostly small or mostly equal.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/base/require.h"

namespace muster {

struct Keyed {
  std::uint64_t key = 0;
  std::uint32_t position = 0;  // of what is sorted, wherever that is
};

// Keys that ascend as the numbers descend. Requires that the number is not NaN.
inline std::uint64_t descending_key(std::int64_t number) { return ~static_cast<std::uint64_t>(number) ^ (1ULL << 63); }
inline std::uint64_t descending_key(double number) {
  MUSTER_REQUIRE_SLOW(number == number);
  const auto bits = std::bit_cast<std::int64_t>(number + 0.0);  // of the two zeros, the positive one
  return bits < 0 ? static_cast<std::uint64_t>(bits) : ~static_cast<std::uint64_t>(bits) ^ (1ULL << 63);
}

// By key, ascending; equal ones keep their order. `spare` is working memory. Cost: O(n) for each byte in which keys
// differ; O(n log n) for few.
inline void sort_by_key(std::span<Keyed> items, std::vector<Keyed>& spare) {
  constexpr std::size_t kFew = 256;
  if (items.size() < kFew) {
    std::ranges::stable_sort(items, {}, &Keyed::key);
    return;
  }
  std::uint64_t differ = 0;
  for (const Keyed& item : items) differ |= item.key ^ items.front().key;
  spare.resize(std::max(spare.size(), items.size()));
  std::span<Keyed> from = items, to(spare.data(), items.size());
  for (int shift = 0; shift < 64; shift += 8) {
    if ((differ >> shift & 0xFF) == 0) continue;
    std::array<std::uint32_t, 256> begins{};
    for (const Keyed& item : from) ++begins[item.key >> shift & 0xFF];
    std::uint32_t next = 0;
    for (std::uint32_t& begin : begins) next += std::exchange(begin, next);
    for (const Keyed& item : from) to[begins[item.key >> shift & 0xFF]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::ranges::copy(from, items.begin());
}

}  // namespace muster
