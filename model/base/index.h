// Distinct integer types for positions in the problem's arrays, and an array that accepts only its own index.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace muster {

// A position in one kind of array. Two kinds never convert into each other or into plain integers.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}
  // The position that no element has; what "none" is where an index is optional.
  static constexpr Index none() { return Index(std::numeric_limits<std::uint32_t>::max()); }
  constexpr bool is_none() const { return *this == none(); }
  constexpr std::uint32_t value() const { return value_; }
  constexpr Index& operator++() {
    ++value_;
    return *this;
  }
  friend constexpr auto operator<=>(Index, Index) = default;

 private:
  std::uint32_t value_ = std::numeric_limits<std::uint32_t>::max();
};

using NodeIndex = Index<struct NodeTag>;
using NodeClassIndex = Index<struct NodeClassTag>;
using PodIndex = Index<struct PodTag>;
using PodClassIndex = Index<struct PodClassTag>;
using PodSpecIndex = Index<struct PodSpecTag>;
using GangIndex = Index<struct GangTag>;
using GroupIndex = Index<struct GroupTag>;  // a gang's root or one of its subgroups
using QueueIndex = Index<struct QueueTag>;
using ResourceIndex = Index<struct ResourceTag>;
using ModelIndex = Index<struct ModelTag>;          // a GPU model
using TopologyLevelIndex = Index<struct LevelTag>;  // those of one topology are in a row, coarse to fine
using DomainIndex = Index<struct DomainTag>;        // one domain of one topology level
using AntiAffinityIndex = Index<struct AntiAffinityTag>;
using AffinityIndex = Index<struct AffinityTag>;
using SpreadIndex = Index<struct SpreadTag>;
using PreferredTermIndex = Index<struct PreferredTermTag>;

// Indices in a row, from `first` to the one before `end`.
template <class I>
class IndexRange {
 public:
  class Iterator {
   public:
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::size_t at) : at_(at) {}
    I operator*() const { return I(at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    std::size_t at_ = 0;
  };
  IndexRange() = default;
  explicit IndexRange(std::size_t count) : end_(count) {}
  IndexRange(std::size_t first, std::size_t end) : first_(first), end_(end) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(end_); }
  std::size_t size() const { return end_ - first_; }
  I operator[](std::size_t position) const { return I(first_ + position); }
  I front() const { return I(first_); }
  I back() const { return I(end_ - 1); }

 private:
  std::size_t first_ = 0, end_ = 0;
};

// A vector that is indexed by one index type only.
template <class I, class T>
class Indexed {
 public:
  Indexed() = default;
  explicit Indexed(std::size_t size) : items_(size) {}
  Indexed(std::size_t size, const T& value) : items_(size, value) {}
  decltype(auto) operator[](I index) { return items_[index.value()]; }
  decltype(auto) operator[](I index) const { return items_[index.value()]; }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  I push_back(T item) {
    items_.push_back(std::move(item));
    return I(items_.size() - 1);
  }
  void assign(std::size_t size, const T& value) { items_.assign(size, value); }
  void resize(std::size_t size) { items_.resize(size); }
  void reserve(std::size_t size) { items_.reserve(size); }
  void clear() { items_.clear(); }
  IndexRange<I> indices() const { return IndexRange<I>(items_.size()); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  const std::vector<T>& raw() const { return items_; }
  std::vector<T>& raw() { return items_; }
  friend bool operator==(const Indexed&, const Indexed&) = default;

 private:
  std::vector<T> items_;
};

}  // namespace muster

template <class Tag>
struct std::hash<muster::Index<Tag>> {
  std::size_t operator()(muster::Index<Tag> index) const noexcept { return index.value(); }
};
