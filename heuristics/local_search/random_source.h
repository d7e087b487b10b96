// Random numbers that are the same with every standard library, which those of the standard distributions are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "model/base/require.h"

namespace muster::local_search {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_(); }
  // Requires a count above 0.
  std::size_t below(std::size_t count) {
    MUSTER_REQUIRE_SLOW(count > 0);
    return static_cast<std::size_t>(random_() % count);
  }
  bool coin() { return below(2) == 0; }
  double unit() { return static_cast<double>(random_() >> 11) / 0x1p53; }  // from 0, below 1

  template <class Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace muster::local_search
