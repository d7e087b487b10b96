#include "solver/online/online_states.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace muster::online {

NodeStates::NodeStates(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node)
    : slot_of_node_(type_of_node.size()) {
  for (std::size_t node = 0; node < type_of_node.size(); ++node) {
    const policies::OnlineType& type = types[type_of_node[node]];
    StateKey key;
    key.type = static_cast<std::uint32_t>(type_of_node[node]);
    key.devices = static_cast<std::uint32_t>(type.devices);
    key.cpu = std::llround(type.cpu * 1000);
    key.memory = std::llround(type.memory * 1024);
    std::fill_n(key.levels.begin(), key.devices, std::uint8_t{policies::kDeviceLevels});
    devices_of_node_.emplace_back(key.devices, std::uint8_t{policies::kDeviceLevels});
    enter(key, node);
  }
}

void NodeStates::forget_values() {
  for (std::size_t slot = 0; slot < states_.size(); ++slot) {
    states_[slot].is_valued = false;
    if (stamps_[slot] != 0) stamps_[slot] = ++last_stamp_;
  }
}

void NodeStates::take(std::size_t node, std::int64_t cpu, std::int64_t memory, std::span<const std::int32_t> devices,
                      std::int32_t level) {
  StateKey key = of(node).key;
  leave(node);
  std::vector<std::uint8_t>& levels = devices_of_node_[node];
  for (const std::int32_t device : devices) {
    std::uint8_t& left = levels[static_cast<std::size_t>(device)];
    left = static_cast<std::uint8_t>(left - level);
  }
  key.cpu -= cpu;
  key.memory -= memory;
  std::ranges::copy(levels, key.levels.begin());
  std::sort(key.levels.begin(), key.levels.begin() + key.devices);
  enter(key, node);
}

void NodeStates::enter(const StateKey& key, std::size_t node) {
  const auto [at, is_new] = state_of_.emplace(key, 0);
  if (is_new) {
    if (free_slots_.empty()) {
      at->second = states_.size();
      states_.emplace_back();
      stamps_.push_back(0);
    } else {
      at->second = free_slots_.back();
      free_slots_.pop_back();
    }
    State& state = states_[at->second];
    state.key = key;
    stamps_[at->second] = ++last_stamp_;
    state.is_valued = false;
  }
  states_[at->second].nodes.push_back(static_cast<std::int32_t>(node));
  slot_of_node_[node] = at->second;
}

void NodeStates::leave(std::size_t node) {
  const std::size_t slot = slot_of_node_[node];
  State& state = states_[slot];
  const auto last = std::find(state.nodes.rbegin(), state.nodes.rend(), static_cast<std::int32_t>(node));
  state.nodes.erase(std::next(last).base());
  if (state.nodes.empty()) {
    state_of_.erase(state.key);
    stamps_[slot] = 0;
    free_slots_.push_back(slot);
  }
}

TypeBalance::TypeBalance(const std::vector<policies::OnlineType>& types, const std::vector<std::size_t>& type_of_node)
    : used_of_type_(types.size(), 0),
      all_of_type_(types.size(), 0),
      hashes_(types.size()),
      set_of_type_(types.size()),
      shift_(types.size(), 0) {
  std::iota(set_of_type_.begin(), set_of_type_.end(), std::size_t{0});
  for (const std::size_t type : type_of_node) {
    devices_ += types[type].devices;
    all_of_type_[type] += types[type].devices;
  }
}

void TypeBalance::group(const std::vector<const policies::OnlineClass*>& classes) {
  set_of_type_.assign(hashes_.size(), 0);
  for (std::size_t t = 0; t < hashes_.size(); ++t) {
    std::uint64_t hash = 1;
    for (const policies::OnlineClass* one : classes) {
      if (one->devices > 0) hash = hash * 0x9E3779B97F4A7C15U + (one->accepts_type(t) ? 1 : 2);
    }
    for (std::size_t other = 0; other < t; ++other) {
      if (hashes_[other] == hash) set_of_type_[t] = set_of_type_[other];
    }
    hashes_[t] = hash;
    const auto here = hashes_.begin() + static_cast<std::ptrdiff_t>(t);
    if (std::find(hashes_.begin(), here, hash) == here) set_of_type_[t] = t;
  }
  renew_shifts();
}

void TypeBalance::use(std::size_t type, double devices) {
  used_of_type_[type] += devices;
  renew_shifts();
}

double TypeBalance::balance() const {
  double sum = 0;
  for (const Use& use : uses()) sum -= use.devices * use.above * use.above / 2;
  return sum;
}

// By set of types: its used part, less that of the cluster; and its devices.
std::vector<TypeBalance::Use> TypeBalance::uses() const {
  std::vector<Use> result(hashes_.size());
  double used_sum = 0;
  for (std::size_t t = 0; t < hashes_.size(); ++t) {
    result[set_of_type_[t]].above += used_of_type_[t];
    result[set_of_type_[t]].devices += all_of_type_[t];
    used_sum += used_of_type_[t];
  }
  for (Use& use : result) use.above = use.devices > 0 ? use.above / use.devices - used_sum / devices_ : 0;
  return result;
}

void TypeBalance::renew_shifts() {
  const std::vector<Use> of_set = uses();
  for (std::size_t t = 0; t < shift_.size(); ++t) shift_[t] = static_cast<float>(-of_set[set_of_type_[t]].above);
}

}  // namespace muster::online
