#include "solver/online/online_states.h"

#include <iterator>

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

}  // namespace muster::online
