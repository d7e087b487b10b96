// The nodes of an online placer by what they have left: equal nodes are one state.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "heuristics/policies/online_tie_break.h"
#include "heuristics/policies/online_value.h"

namespace muster::online {

// The free part of a node, in whole units; equal nodes share everything that is computed for them.
struct StateKey {
  std::int64_t cpu = 0, memory = 0;
  std::array<std::uint8_t, policies::kMostOnlineDevices> levels{};  // ascending
  std::uint32_t type = 0, devices = 0;
  friend bool operator==(const StateKey&, const StateKey&) = default;
};

struct StateHash {
  std::size_t operator()(const StateKey& key) const {
    std::uint64_t words[2];
    std::memcpy(words, key.levels.data(), sizeof words);
    std::uint64_t hash = 0x9E3779B97F4A7C15U;
    for (const std::uint64_t word : {static_cast<std::uint64_t>(key.cpu), static_cast<std::uint64_t>(key.memory),
                                     words[0], words[1], std::uint64_t{key.type}}) {
      hash = (hash ^ word) * 0xBF58476D1CE4E5B9U;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

// The data that each pod reads first fits one cache line.
struct alignas(64) State {
  StateKey key;
  std::vector<std::int32_t> nodes;  // in it; empty: the slot is free
  // Of the present prices, once `is_valued`:
  bool is_valued = false;
  float value = 0, usable = 0;
  std::size_t point = 0;
  policies::OnlineHosts::Kinds hosted = 0;

  std::span<const std::uint8_t> levels() const { return {key.levels.data(), key.devices}; }
  std::int32_t whole() const {
    return static_cast<std::int32_t>(std::ranges::count(levels(), std::uint8_t{policies::kDeviceLevels}));
  }
};

inline policies::OnlineCapacity room_of(const StateKey& key, std::span<const std::uint8_t> levels) {
  return {key.type, static_cast<double>(key.cpu) / 1000, static_cast<double>(key.memory) / 1024, levels};
}

class NodeStates {
 public:
  // All of them free. Cost: O(nodes).
  NodeStates(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node);

  // By slot; slots of states in which no node is are free.
  std::vector<State>& all() { return states_; }
  const std::vector<State>& all() const { return states_; }
  State& of(std::size_t node) { return states_[slot_of_node_[node]]; }
  std::size_t slot(std::size_t node) const { return slot_of_node_[node]; }
  // Of a slot: changes with its state, and with forget_values(). 0: no node is in it.
  std::uint32_t stamp(std::size_t slot) const { return stamps_[slot]; }
  // Free levels of a node's devices, by position.
  const std::vector<std::uint8_t>& devices(std::size_t node) const { return devices_of_node_[node]; }

  // What was computed of states holds no more.
  void forget_values();
  // So much less is free on the node, of each of the devices too; negative: more.
  void take(std::size_t node, std::int64_t cpu, std::int64_t memory, std::span<const std::int32_t> devices,
            std::int32_t level);

 private:
  void enter(const StateKey& key, std::size_t node);
  void leave(std::size_t node);

  std::vector<std::vector<std::uint8_t>> devices_of_node_;
  std::vector<State> states_;
  std::vector<std::uint32_t> stamps_;
  std::vector<std::size_t> slot_of_node_;
  std::unordered_map<StateKey, std::size_t, StateHash> state_of_;
  std::vector<std::size_t> free_slots_;
  std::uint32_t last_stamp_ = 0;
};

// How evenly an online placer uses types of nodes that the same classes of pods accept: a type that is wholly used up
// while all others are idle is more expensive by a device.
class TypeBalance {
 public:
  // Nothing is used yet, and each type is a set of its own until group().
  TypeBalance(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node);

  double devices() const { return devices_; }
  // Types that the same ones of the classes accept are one set.
  void group(const std::vector<const policies::OnlineClass*>& classes);
  // Negative: that much is free again.
  void use(std::size_t type, double devices);
  // How the balance changes by a device that is taken of the type.
  float shift(std::size_t type) const { return shift_[type]; }
  // The higher the more even; <= 0.
  double balance() const;

 private:
  struct Use {
    double above = 0, devices = 0;
  };
  std::vector<Use> uses() const;
  void renew_shifts();

  double devices_ = 0;
  std::vector<double> used_of_type_, all_of_type_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> set_of_type_;
  std::vector<float> shift_;
};

}  // namespace muster::online
