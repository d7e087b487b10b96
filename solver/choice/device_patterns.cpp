#include "solver/choice/device_patterns.h"

#include <algorithm>
#include <iterator>

namespace muster::choice {

void DevicePatterns::add(std::int64_t capacity) {
  if (!is_complete_ || patterns_.contains(capacity)) return;
  Pattern held;
  is_complete_ = fill(capacity, stock_.crbegin(), held, patterns_[capacity]);
}

bool DevicePatterns::fill(std::int64_t left, const Sizes::const_reverse_iterator& size, Pattern& held,
                          std::vector<Pattern>& found) {
  if (tries_left_ == 0) return false;
  --tries_left_;
  if (size == stock_.crend()) {
    const bool is_maximal = std::ranges::none_of(stock_, [&](const auto& entry) {
      const auto here = std::ranges::find(held, entry.first, &Pattern::value_type::first);
      return entry.first <= left && (here == held.end() ? 0 : here->second) < entry.second;
    });
    if (is_maximal && !held.empty()) found.push_back(held);
    return true;
  }
  const auto& [share, stock] = *size;
  for (std::int64_t count = std::min(stock, left / share); count >= 0; --count) {
    if (count > 0) held.emplace_back(share, count);
    const bool is_done = fill(left - count * share, std::next(size), held, found);
    if (count > 0) held.pop_back();
    if (!is_done) return false;
  }
  return true;
}

}  // namespace muster::choice
