#include "model/forecast/node_residual.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/problem/exceeded.h"

namespace muster::forecast {
namespace {

constexpr std::size_t kMostFilters = 63;  // and one that lets all in
constexpr std::int64_t kDevice = 1'000;
constexpr std::size_t kMostTries = kTuning.heuristics.forecast_tries;

struct ByContent {
  std::size_t operator()(const std::vector<bool>* filter) const { return std::hash<std::vector<bool>>()(*filter); }
  bool operator()(const std::vector<bool>* a, const std::vector<bool>* b) const { return *a == *b; }
};

}  // namespace

NodeResidual::NodeResidual(const Problem& problem, std::span<const PodClassIndex> asking)
    : problem_(problem), shapes_(problem.pod_classes.size()), nodes_(problem.nodes.size()) {
  for (const PodClassIndex pod_class : problem.pod_classes.indices())
    shapes_[pod_class] = shape_of(problem.pod_classes[pod_class]);
  number_filters(asking);
  group_nodes();
}

NodeResidual::Shape NodeResidual::shape_of(const PodClass& pod_class) const {
  constexpr MicroGpu kMicro = 1'000;  // in a thousandth
  return {(pod_class.smallest_gpu_usage - pod_class.mig_gpu_usage + kMicro - 1) / kMicro,
          pod_class.request[kCpu.value()],
          pod_class.request[kMemory.value()],
          kMostFilters,
          0,
          -1,
          StartObstacle::kDevices};
}

void NodeResidual::number_filters(std::span<const PodClassIndex> asking) {
  std::unordered_map<const std::vector<bool>*, std::uint32_t, ByContent, ByContent> numbers;
  for (const PodClassIndex pod_class : asking) {
    const std::vector<bool>& filter = problem_.pod_classes[pod_class].allowed;
    const auto found = numbers.find(&filter);
    if (found != numbers.end()) {
      shapes_[pod_class].filter = found->second;
    } else if (filters_.size() < kMostFilters) {
      shapes_[pod_class].filter = static_cast<std::uint32_t>(filters_.size());
      numbers.emplace(&filter, shapes_[pod_class].filter);
      filters_.push_back(&filter);
    }
  }
}

void NodeResidual::group_nodes() {
  std::map<std::pair<std::int32_t, std::uint64_t>, std::uint32_t> numbers;
  for (const NodeClassIndex index : problem_.node_classes.indices()) {
    const NodeClass& node_class = problem_.node_classes[index];
    if (node_class.nodes.empty()) continue;
    const NodeClass& reported = as_reported(problem_, node_class);
    const NodeClassIndex filtered = is_exceeded(node_class) ? node_class.reported : index;
    std::uint64_t filters = std::uint64_t{1} << kMostFilters;
    for (std::size_t i = 0; i < filters_.size(); ++i) filters |= std::uint64_t{(*filters_[i])[filtered.value()]} << i;
    const std::int32_t devices = node_class.devices_closed ? 0 : reported.device_count;
    const auto [at, is_new] = numbers.try_emplace({devices, filters}, static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.push_back({filters, devices, 0, 0, {}});
    Group& group = groups_[at->second];
    group.levels.resize(static_cast<std::size_t>(devices) + 1);
    std::vector<NodeIndex>& empty = group.levels.back();
    for (const NodeIndex node : node_class.nodes) {
      nodes_[node] = {at->second,        static_cast<std::uint32_t>(devices), static_cast<std::uint32_t>(empty.size()),
                      devices * kDevice, reported.capacity[kCpu.value()],     reported.capacity[kMemory.value()]};
      empty.push_back(node);
      group.cpu = saturating_add(group.cpu, nodes_[node].cpu);
      group.memory = saturating_add(group.memory, nodes_[node].memory);
    }
  }
  groups_of_filter_.resize(kMostFilters + 1);
  for (const auto& [key, number] : numbers) {
    for (std::size_t i = 0; i <= kMostFilters; ++i)
      if ((key.second >> i & 1) != 0) groups_of_filter_[i].push_back(number);
  }
}

void NodeResidual::change(PodClassIndex pod_class, NodeIndex node, int sign) {
  const Shape& shape = shapes_[pod_class];
  NodeState& state = nodes_[node];
  Group& group = groups_[state.group];
  state.cpu += sign * shape.cpu;
  state.memory += sign * shape.memory;
  group.cpu += sign * shape.cpu;
  group.memory += sign * shape.memory;
  if (shape.thousandths == 0) return;
  state.thousandths += sign * shape.thousandths;
  move_to_level(node);
}

void NodeResidual::move_to_level(NodeIndex node) {
  NodeState& state = nodes_[node];
  Group& group = groups_[state.group];
  const auto level =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(state.thousandths / kDevice, 0, group.devices));
  if (level == state.level) return;
  std::vector<NodeIndex>& old = group.levels[state.level];
  old[state.position] = old.back();
  nodes_[old.back()].position = state.position;
  old.pop_back();
  state.level = level;
  state.position = static_cast<std::uint32_t>(group.levels[level].size());
  group.levels[level].push_back(node);
}

std::optional<StartObstacle> NodeResidual::place(const GangDemand& demand, std::vector<Place>& places) {
  const std::size_t before = places.size();
  for (const PodDemand& item : demand.pods) {
    const bool is_first = places.size() == before;
    Shape& shape = shapes_[item.pod_class];
    std::optional<StartObstacle> obstacle;
    if (shape.failed_at == departures_ && item.pods >= shape.failed_pods) {
      obstacle = shape.obstacle;
    } else {
      obstacle = place_item(item, places);
      if (obstacle && is_first) {
        shape.failed_pods = item.pods;
        shape.failed_at = departures_;
        shape.obstacle = *obstacle;
      }
    }
    if (!obstacle) continue;
    for (std::size_t at = places.size(); at > before; --at) undo(places[at - 1]);
    places.resize(before);
    return obstacle;
  }
  return std::nullopt;
}

std::optional<StartObstacle> NodeResidual::place_item(const PodDemand& item, std::vector<Place>& places) {
  for (std::int32_t i = 0; i < item.pods; ++i) {
    Place place{item.pod_class, {}, 0};
    if (const auto obstacle = place_one(item.pod_class, place)) return obstacle;
    places.push_back(place);
  }
  return std::nullopt;
}

std::optional<StartObstacle> NodeResidual::place_one(PodClassIndex pod_class, Place& place) {
  const Shape& shape = shapes_[pod_class];
  if (shape.thousandths == 0) return place_on_sums(shape, place);
  const std::optional<StartObstacle> obstacle = place_on_node(shape, place);
  if (!obstacle) put(pod_class, place.node);
  return obstacle;
}

std::optional<StartObstacle> NodeResidual::place_on_node(const Shape& shape, Place& place) {
  const std::vector<std::uint32_t>& groups = groups_of_filter_[shape.filter];
  const std::int32_t most = groups.empty() ? 0 : groups_[groups.back()].devices;
  bool lacks_others = false;
  const auto least = static_cast<std::size_t>(shape.thousandths / kDevice);
  for (std::size_t level = least; level <= static_cast<std::size_t>(most); ++level) {
    for (const std::uint32_t number : groups) {
      const Group& group = groups_[number];
      if (level >= group.levels.size()) continue;
      place.node = find_on_level(group, level, shape, lacks_others);
      if (!place.node.is_none()) return std::nullopt;
    }
  }
  if (lacks_others) return StartObstacle::kResources;
  return 2 * shape.thousandths > most * kDevice ? StartObstacle::kNodes : StartObstacle::kDevices;
}

NodeIndex NodeResidual::find_on_level(const Group& group, std::size_t level, const Shape& shape,
                                      bool& lacks_others) const {
  const std::vector<NodeIndex>& nodes = group.levels[level];
  std::size_t tries = 0;
  for (std::size_t i = nodes.size(); i > 0 && tries < kMostTries; --i, ++tries) {
    const NodeState& state = nodes_[nodes[i - 1]];
    if (state.thousandths < shape.thousandths) continue;
    if (state.cpu >= shape.cpu && state.memory >= shape.memory) return nodes[i - 1];
    lacks_others = true;
  }
  return NodeIndex::none();
}

std::optional<StartObstacle> NodeResidual::place_on_sums(const Shape& shape, Place& place) {
  for (const std::uint32_t number : groups_of_filter_[shape.filter]) {
    Group& group = groups_[number];
    if (group.cpu < shape.cpu || group.memory < shape.memory) continue;
    group.cpu -= shape.cpu;
    group.memory -= shape.memory;
    place.group = number;
    return std::nullopt;
  }
  return StartObstacle::kResources;
}

void NodeResidual::undo(const Place& place) {
  if (!place.node.is_none()) return change(place.pod_class, place.node, 1);
  Group& group = groups_[place.group];
  group.cpu += shapes_[place.pod_class].cpu;
  group.memory += shapes_[place.pod_class].memory;
}

}  // namespace muster::forecast
