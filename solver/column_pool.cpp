#include "solver/column_pool.h"

#include <algorithm>
#include <tuple>

#include "solver/decode.h"

namespace muster {

ColumnPool::ColumnPool(const ConfigurationInput& input, const Supply& supply)
    : in_(input),
      supply_(supply),
      configurations_(supply.rooms.size()),
      known_(supply.rooms.size()),
      pricing_(supply.rooms.size()) {
  for (RoomClassIndex room : supply.rooms.indices())
    for (NodeIndex node : supply.rooms[room].nodes) room_of_[node] = room;
  for (DemandIndex d : input.demand.classes.indices()) {
    const DemandClass& demand = input.demand.classes[d];
    demand_of_[{demand.pod_class, demand.weighted_work, demand.nominated_node}] = d;
  }
}

bool ColumnPool::list_all(std::size_t limit) {
  std::size_t columns = 0;
  Indexed<RoomClassIndex, std::vector<Configuration>> listed(supply_.rooms.size());
  for (RoomClassIndex room : supply_.rooms.indices()) {
    std::optional<std::vector<Configuration>> all = enumerate_configurations(in_, supply_.rooms[room], limit);
    if (!all || (columns += all->size()) > limit) return false;
    listed[room] = std::move(*all);
  }
  configurations_ = std::move(listed);
  return true;
}

bool ColumnPool::add(RoomClassIndex room, Configuration configuration) {
  const auto [found, is_new] = known_[room].try_emplace(configuration.counts, configurations_[room].size());
  if (is_new) configurations_[room].push_back(std::move(configuration));
  return is_new;
}

void ColumnPool::add_contents(const Plan& plan, const ClusterState& base) {
  std::map<NodeIndex, Configuration> contents;
  std::map<NodeIndex, std::map<DemandIndex, std::int32_t>> counts;
  for (const Placement& placement : plan.placements) {
    const Pod& pod = in_.problem.pods[placement.pod];
    const auto demand = demand_of_.find({pod.pod_class, pod.weighted_work, pod.nominated_node});
    const auto room = room_of_.find(placement.node);
    if (demand == demand_of_.end() || room == room_of_.end()) continue;
    const std::vector<std::int32_t> positions = device_positions(base, placement.node);
    Configuration::Step step{demand->second, {}};
    for (std::int32_t device : placement.devices) {
      const auto at = std::find(positions.begin(), positions.end(), device);
      if (at != positions.end()) step.devices.push_back(static_cast<std::int32_t>(at - positions.begin()));
    }
    if (step.devices.size() != placement.devices.size()) continue;
    contents[placement.node].steps.push_back(std::move(step));
    ++counts[placement.node][demand->second];
  }
  for (auto& [node, configuration] : contents) {
    configuration.counts.assign(counts[node].begin(), counts[node].end());
    add(room_of_.at(node), std::move(configuration));
  }
}

Pricing& ColumnPool::pricing(RoomClassIndex room) {
  if (!pricing_[room]) pricing_[room].emplace(in_, supply_.rooms[room]);
  return *pricing_[room];
}

}  // namespace muster
