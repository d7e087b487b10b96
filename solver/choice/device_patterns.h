// The ways in which pods share one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/base/require.h"

namespace muster::choice {

// Shares and capacities are in one unit of the caller's.
class DevicePatterns {
 public:
  using Sizes = std::map<std::int64_t, std::int64_t>;                  // by share: how many sharers there are
  using Pattern = std::vector<std::pair<std::int64_t, std::int64_t>>;  // (share, sharers), largest share first

  // `most`: patterns and tries to find them, of all capacities together.
  DevicePatterns(Sizes stock, std::size_t most) : stock_(std::move(stock)), tries_left_(most) {}

  // Finds the maximal patterns of a device with so much left: multisets of shares to which none of the stock can be
  // added. Cost: O(most).
  void add(std::int64_t capacity);
  // Of an added capacity. Requires is_complete().
  const std::vector<Pattern>& of(std::int64_t capacity) const {
    MUSTER_REQUIRE(is_complete());
    return patterns_.at(capacity);
  }
  // Whether all patterns were found.
  bool is_complete() const { return is_complete_; }

 private:
  bool fill(std::int64_t left, const Sizes::const_reverse_iterator& size, Pattern& held, std::vector<Pattern>& found);

  Sizes stock_;
  std::size_t tries_left_;
  std::map<std::int64_t, std::vector<Pattern>> patterns_;
  bool is_complete_ = true;
};

}  // namespace muster::choice
