#include "heuristics/state/node_cells.h"

#include <algorithm>
#include <array>

namespace muster {

namespace {

// The number of steps that distinguish the capacities of devices, and the cpu of a node: the more steps, the fewer
// nodes are examined, and the more cells are compared instead.
constexpr std::int64_t kRoomSteps = 8, kLeastCpuSteps = 4, kMostCpuSteps = 128, kNodesACpuStep = 400;

}  // namespace

NodeCells::NodeCells(const Problem& problem, By by)
    : problem_(problem),
      by_(by),
      cpu_steps_(std::clamp(static_cast<std::int64_t>(problem.nodes.size()) / kNodesACpuStep, kLeastCpuSteps,
                            kMostCpuSteps)) {}

void NodeCells::add(const ClusterState& state, const MarkedNode& node) {
  if (by_ == By::kIdleDevices) {
    add_to(state, node, {});
    return;
  }
  if (state.idle_devices(node.node) > 0) add_to(state, node, {});
  std::array<Rooms, kRoomSteps> rooms;
  const DeviceUnits whole = problem_.device_capacity(node.node);
  for (const DeviceUnits room : state.free_devices(node.node)) {
    if (room <= 0 || room == whole) continue;
    const std::int64_t step = room * kRoomSteps / whole;
    Rooms& alike = rooms[static_cast<std::size_t>(step)];
    const bool is_first = alike.step == 0;
    alike = {1 + step, is_first ? room : std::min(alike.least, room), std::max(alike.most, room)};
  }
  for (const Rooms& alike : rooms) {
    if (alike.step > 0) add_to(state, node, alike);
  }
}

void NodeCells::add_to(const ClusterState& state, const MarkedNode& node, const Rooms& rooms) {
  const NodeClass& node_class = problem_.class_of(node.node);
  const Amount cpu = state.free(node.node)[kCpu.value()];
  const Amount cpu_step = std::max<Amount>(1, node_class.capacity[kCpu.value()] / cpu_steps_);
  const std::array<std::uint64_t, 2> key{
      std::uint64_t{problem_.nodes[node.node].node_class.value()} << 32 |
          static_cast<std::uint32_t>(state.idle_devices(node.node)),
      static_cast<std::uint64_t>(rooms.step) << 32 | static_cast<std::uint64_t>(std::max<Amount>(0, cpu) / cpu_step)};
  const auto [number, is_new] = keys_.intern(key);
  if (is_new) {
    cells_.push_back({problem_.nodes[node.node].node_class,
                      state.idle_devices(node.node),
                      rooms.step > 0,
                      rooms.least,
                      rooms.most,
                      cpu,
                      cpu,
                      {}});
  }
  Cell& cell = cells_[number];
  cell.least_room = std::min(cell.least_room, rooms.least);
  cell.most_room = std::max(cell.most_room, rooms.most);
  cell.least_cpu = std::min(cell.least_cpu, cpu);
  cell.most_cpu = std::max(cell.most_cpu, cpu);
  cell.nodes.push_back(node);
}

}  // namespace muster
