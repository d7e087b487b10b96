// A sequence that grows in blocks of equal size, for many large elements: growth beyond the first block moves no
// element; no block is so large that its memory is returned to the system and must be faulted in again page by page;
// and sequences are joined block by block.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/base/require.h"

namespace muster {

template <class T>
class BlockVector {
  template <bool IsConst>
  class Cursor;

 public:
  static constexpr std::size_t kBlock = 1024;  // elements of each but the last
  using value_type = T;
  using iterator = Cursor<false>;
  using const_iterator = Cursor<true>;

  std::size_t size() const { return blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlock + blocks_.back().size(); }
  bool empty() const { return blocks_.empty(); }
  T& operator[](std::size_t i) { return blocks_[i / kBlock][i % kBlock]; }
  const T& operator[](std::size_t i) const { return blocks_[i / kBlock][i % kBlock]; }
  T& back() { return blocks_.back().back(); }
  const T& back() const { return blocks_.back().back(); }

  T& push_back(T element) {
    if (blocks_.empty() || blocks_.back().size() == kBlock) {
      blocks_.emplace_back();
      if (blocks_.size() > 1) blocks_.back().reserve(kBlock);
    }
    return blocks_.back().emplace_back(std::move(element));
  }
  template <class Test>
  void erase_if(const Test& test) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (test((*this)[i])) continue;
      if (kept != i) (*this)[kept] = std::move((*this)[i]);
      ++kept;
    }
    truncate(kept);
  }
  // Keeps the first `count` elements. Requires count <= size().
  void truncate(std::size_t count) {
    MUSTER_REQUIRE(count <= size());
    while (!blocks_.empty() && (blocks_.size() - 1) * kBlock >= count) blocks_.pop_back();
    if (!blocks_.empty()) blocks_.back().resize(count - (blocks_.size() - 1) * kBlock);
  }
  // Cost: O(blocks) if size() is a multiple of kBlock, else O(other.size()).
  void append(BlockVector&& other) {
    if (size() % kBlock == 0) {
      blocks_.insert(blocks_.end(), std::move_iterator(other.blocks_.begin()), std::move_iterator(other.blocks_.end()));
    } else {
      for (T& element : other) push_back(std::move(element));
    }
    other.blocks_.clear();
  }

  iterator begin() { return {*this, 0}; }
  iterator end() { return {*this, size()}; }
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, size()}; }

 private:
  template <bool IsConst>
  class Cursor {
    using Sequence = std::conditional_t<IsConst, const BlockVector, BlockVector>;

   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<IsConst, const T&, T&>;
    using pointer = std::conditional_t<IsConst, const T*, T*>;

    Cursor() = default;
    Cursor(Sequence& sequence, std::size_t at) : sequence_(&sequence), at_(at) {}
    reference operator*() const { return (*sequence_)[at_]; }
    pointer operator->() const { return &(*sequence_)[at_]; }
    Cursor& operator++() {
      ++at_;
      return *this;
    }
    Cursor operator++(int) { return {*sequence_, at_++}; }
    bool operator==(const Cursor& other) const { return at_ == other.at_; }

   private:
    Sequence* sequence_ = nullptr;
    std::size_t at_ = 0;
  };

  std::vector<std::vector<T>> blocks_;  // none of them empty
};

}  // namespace muster
