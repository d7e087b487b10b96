// Many short lists of pods, in one block of memory: copied at once, and without an allocation for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/index.h"

namespace muster {

// Each list keeps the order in which its pods came. What it says of itself is kept by whoever it belongs to.
class PodLists {
 public:
  struct List {
    std::uint32_t begin = 0, size = 0, capacity = 0;
  };

  // A new list, with room for so many before it has to move.
  List make(std::uint32_t capacity) {
    const List list{static_cast<std::uint32_t>(pods_.size()), 0, capacity};
    pods_.resize(pods_.size() + capacity);
    return list;
  }
  void reserve(std::size_t pods) { pods_.reserve(pods); }

  // Valid until the next `add` or `make`.
  std::span<const PodIndex> pods(const List& list) const { return std::span(pods_).subspan(list.begin, list.size); }

  // Cost: O(1), amortised.
  void add(List& list, PodIndex pod) {
    if (list.size == list.capacity) grow(list);
    pods_[list.begin + list.size++] = pod;
  }
  // Requires that the pod is in the list. Cost: O(its size).
  void remove(List& list, PodIndex pod) {
    const auto all = std::span(pods_).subspan(list.begin, list.size);
    const auto at = std::ranges::find(all, pod);
    std::copy(at + 1, all.end(), at);
    --list.size;
  }

 private:
  // Moves the list to the end, to twice the room; what it leaves is lost.
  void grow(List& list) {
    constexpr std::uint32_t kLeast = 4;
    const auto begin = static_cast<std::uint32_t>(pods_.size());
    const std::uint32_t capacity = std::max(kLeast, 2 * list.capacity);
    pods_.resize(pods_.size() + capacity);
    std::copy_n(pods_.begin() + list.begin, list.size, pods_.begin() + begin);
    list.begin = begin;
    list.capacity = capacity;
  }

  std::vector<PodIndex> pods_;
};

}  // namespace muster
