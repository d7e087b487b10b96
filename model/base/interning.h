// Numbers for names and for sequences of integers: equal ones get the same number.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/require.h"

namespace muster {

// Names, each within a scope (the names of one scope differ; scope 0 if there is but one). Views are kept, not
// characters. Cost: expected O(length) an operation, no allocation per name.
class NameTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  void reserve(std::size_t names);
  // The value kept for the name, and whether the name was new: then `value` is kept.
  std::pair<std::uint32_t, bool> insert(std::string_view name, std::uint32_t value, std::uint32_t scope = 0);
  // kAbsent if the name is not there.
  std::uint32_t find(std::string_view name, std::uint32_t scope = 0) const;
  // The name's number in order of first appearance. Requires that only this is used to fill the table.
  std::uint32_t number(std::string_view name, std::uint32_t scope = 0) {
    const std::uint32_t number = insert(name, size(), scope).first;
    MUSTER_REQUIRE_SLOW(number < size());
    return number;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }

 private:
  struct Entry {
    std::string_view name;
    std::uint32_t scope = 0, value = 0;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry = kAbsent;
  };
  std::size_t slot_of(std::string_view name, std::uint32_t scope, std::uint32_t hash) const;
  void rehash(std::size_t slots);

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two, at most half full; linear probing
};

// Sequences of integers, numbered in order of first appearance.
class SequenceTable {
 public:
  // The sequence's number, and whether it was new.
  std::pair<std::uint32_t, bool> intern(std::span<const std::uint64_t> sequence);
  std::span<const std::uint64_t> operator[](std::uint32_t number) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(begins_.size() - 1); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0xFFFFFFFF;
  };
  void rehash(std::size_t slots);

  std::vector<std::uint64_t> values_;
  std::vector<std::size_t> begins_{0};
  std::vector<Slot> slots_;
};

}  // namespace muster
