#include "model/base/interning.h"

#include <algorithm>
#include <functional>

namespace muster {
namespace {

constexpr std::size_t kFirstSlots = 16;

// Spreads the bits of a 64-bit number over all 64. Source: the finaliser of SplitMix64 (Steele et al. 2014).
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

std::uint32_t hash_of(std::string_view name, std::uint32_t scope) {
  return static_cast<std::uint32_t>(mix(std::hash<std::string_view>{}(name) + 0x9E3779B97F4A7C15ULL * scope));
}

std::uint32_t hash_of(std::span<const std::uint64_t> sequence) {
  std::uint64_t hash = sequence.size();
  for (const std::uint64_t value : sequence) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(mix(hash));
}

std::size_t slots_for(std::size_t names) {
  std::size_t slots = kFirstSlots;
  while (slots < 2 * names) slots *= 2;
  return slots;
}

}  // namespace

void NameTable::reserve(std::size_t names) {
  entries_.reserve(names);
  if (slots_for(names) > slots_.size()) rehash(slots_for(names));
}

void NameTable::rehash(std::size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.entry == kAbsent) continue;
    std::size_t at = slot.hash & (slots - 1);
    while (slots_[at].entry != kAbsent) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
  }
}

std::size_t NameTable::slot_of(std::string_view name, std::uint32_t scope, std::uint32_t hash) const {
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].entry != kAbsent; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != hash) continue;
    const Entry& entry = entries_[slots_[at].entry];
    if (entry.scope == scope && entry.name == name) break;
  }
  return at;
}

std::pair<std::uint32_t, bool> NameTable::insert(std::string_view name, std::uint32_t value, std::uint32_t scope) {
  if (2 * (entries_.size() + 1) > slots_.size()) rehash(slots_for(2 * entries_.size() + 1));
  const std::uint32_t hash = hash_of(name, scope);
  Slot& slot = slots_[slot_of(name, scope, hash)];
  if (slot.entry != kAbsent) return {entries_[slot.entry].value, false};
  slot = {hash, static_cast<std::uint32_t>(entries_.size())};
  entries_.push_back({name, scope, value});
  return {value, true};
}

std::uint32_t NameTable::find(std::string_view name, std::uint32_t scope) const {
  if (entries_.empty()) return kAbsent;
  const Slot& slot = slots_[slot_of(name, scope, hash_of(name, scope))];
  return slot.entry == kAbsent ? kAbsent : entries_[slot.entry].value;
}

std::span<const std::uint64_t> SequenceTable::operator[](std::uint32_t number) const {
  return {values_.data() + begins_[number], begins_[number + 1] - begins_[number]};
}

void SequenceTable::rehash(std::size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.number == NameTable::kAbsent) continue;
    std::size_t at = slot.hash & (slots - 1);
    while (slots_[at].number != NameTable::kAbsent) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
  }
}

std::pair<std::uint32_t, bool> SequenceTable::intern(std::span<const std::uint64_t> sequence) {
  if (2 * (size() + std::size_t{1}) > slots_.size()) rehash(slots_for(2 * size() + std::size_t{1}));
  const std::uint32_t hash = hash_of(sequence);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].number != NameTable::kAbsent; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == hash && std::ranges::equal((*this)[slots_[at].number], sequence)) {
      return {slots_[at].number, false};
    }
  }
  slots_[at] = {hash, size()};
  values_.insert(values_.end(), sequence.begin(), sequence.end());
  begins_.push_back(values_.size());
  return {size() - 1, true};
}

}  // namespace muster
