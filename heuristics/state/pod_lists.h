// Many short lists of pods, in one block of memory: copied in one operation, without an allocation for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/base/index.h"
#include "model/base/require.h"

namespace muster {

// Each list keeps the order in which its pods were added. The owner of a list keeps its descriptor.
class PodLists {
 public:
  struct List {
    std::uint32_t begin = 0, size = 0, capacity = 0;
  };

  // A new list, with capacity for that many pods before it has to move.
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
    MUSTER_REQUIRE(at != all.end());
    std::copy(at + 1, all.end(), at);
    --list.size;
  }

 private:
  // Moves the list to the end, with twice the capacity; its old space is not reused.
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
