#include "heuristics/node_cells.h"

#include <algorithm>
#include <array>

namespace muster {

namespace {

// What a device has, and the cpu of a node, is told apart in so many steps: the more, the fewer nodes are looked into,
// and the more cells are weighed instead.
constexpr std::int64_t kRoomSteps = 8, kLeastCpuSteps = 4, kMostCpuSteps = 128, kNodesACpuStep = 400;

}  // namespace

NodeCells::NodeCells(const Problem& problem, By by)
    : problem_(problem),
      by_(by),
      cpu_steps_(std::clamp(static_cast<std::int64_t>(problem.nodes.size()) / kNodesACpuStep, kLeastCpuSteps,
                            kMostCpuSteps)) {}

void NodeCells::add(const ClusterState& state, const MarkedNode& node) {
  constexpr DeviceUnits kNone = 0;
  if (by_ == By::kIdleDevices) {
    add_to(state, node, kNone);
    return;
  }
  if (state.idle_devices(node.node) > 0) add_to(state, node, kNone);
  const DeviceUnits whole = problem_.device_capacity(node.node);
  DeviceUnits last = kNone;
  for (const DeviceUnits room : state.free_devices(node.node)) {
    if (room > 0 && room != whole && room != last) add_to(state, node, room);
    last = room;
  }
}

// `room`: on a device in use, or 0.
void NodeCells::add_to(const ClusterState& state, const MarkedNode& node, DeviceUnits room) {
  const NodeClass& node_class = problem_.class_of(node.node);
  const Amount cpu = state.free(node.node)[kCpu.value()];
  const Amount cpu_step = std::max<Amount>(1, node_class.capacity[kCpu.value()] / cpu_steps_);
  const std::int64_t room_step = room == 0 ? 0 : 1 + room * kRoomSteps / problem_.device_capacity(node.node);
  const std::array<std::uint64_t, 2> key{
      std::uint64_t{problem_.nodes[node.node].node_class.value()} << 32 |
          static_cast<std::uint32_t>(state.idle_devices(node.node)),
      static_cast<std::uint64_t>(room_step) << 32 | static_cast<std::uint64_t>(std::max<Amount>(0, cpu) / cpu_step)};
  const auto [number, is_new] = keys_.intern(key);
  if (is_new) {
    cells_.push_back(
        {problem_.nodes[node.node].node_class, state.idle_devices(node.node), room > 0, room, room, cpu, cpu, {}});
  }
  Cell& cell = cells_[number];
  cell.least_room = std::min(cell.least_room, room);
  cell.most_room = std::max(cell.most_room, room);
  cell.least_cpu = std::min(cell.least_cpu, cpu);
  cell.most_cpu = std::max(cell.most_cpu, cpu);
  if (cell.nodes.empty() || cell.nodes.back().node != node.node || cell.nodes.back().mark != node.mark)
    cell.nodes.push_back(node);
}

}  // namespace muster
