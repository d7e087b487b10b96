#include "heuristics/placement/node_cells.h"

#include <algorithm>
#include <array>
#include <bit>

#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::placement {

NodeCells::NodeCells(const ClusterState& state, NodeMarks& marks, By by)
    : problem_(state.problem()),
      state_(state),
      marks_(marks),
      by_(by),
      cpu_steps_(static_cast<std::int64_t>(std::bit_width(problem_.nodes.size()))) {
  MUSTER_REQUIRE(marks.has_groups());
  marks.for_each_group([&](const MarkedNode& node) { add(node); });
  for (const NodeIndex node : problem_.nodes.indices()) {
    if (marks.has_changed(node)) add(marks.marked(node));
  }
  read_ = marks.read();
}

void NodeCells::follow() {
  constexpr std::size_t kAhead = 8;
  const std::vector<NodeIndex>& touched = state_.changes().touched();
  for (; read_ < marks_.read(); ++read_) {
    if (read_ + kAhead < marks_.read()) {
      marks_.fetch(touched[read_ + kAhead]);
      state_.nodes().fetch(touched[read_ + kAhead]);
    }
    const NodeIndex node = touched[read_];
    if (marks_.last_change(node) == read_ + 1) add(marks_.marked(node));  // otherwise it comes again
  }
}

void NodeCells::add(const MarkedNode& node) {
  if (by_ == By::kIdleDevices) {
    add_to(node, {});
    return;
  }
  if (state_.idle_devices(node.node) > 0) add_to(node, {});
  std::array<Rooms, kTuning.heuristics.room_steps> rooms;
  const DeviceUnits whole = problem_.device_capacity(node.node);
  for (const DeviceUnits room : state_.free_devices(node.node)) {
    if (room <= 0 || room == whole) continue;
    const std::int64_t step = room * std::ssize(rooms) / whole;
    Rooms& alike = rooms[static_cast<std::size_t>(step)];
    const bool is_first = alike.step == 0;
    alike = {1 + step, is_first ? room : std::min(alike.least, room), std::max(alike.most, room)};
  }
  for (const Rooms& alike : rooms) {
    if (alike.step > 0) add_to(node, alike);
  }
}

void NodeCells::add_to(const MarkedNode& node, const Rooms& rooms) {
  const NodeClass& node_class = problem_.class_of(node.node);
  const Amount cpu = state_.free(node.node)[kCpu.value()];
  const Amount cpu_step = std::max<Amount>(1, node_class.capacity[kCpu.value()] / cpu_steps_);
  const std::array<std::uint64_t, 2> key{
      std::uint64_t{problem_.nodes[node.node].node_class.value()} << 32 |
          static_cast<std::uint32_t>(state_.idle_devices(node.node)),
      static_cast<std::uint64_t>(rooms.step) << 32 | static_cast<std::uint64_t>(std::max<Amount>(0, cpu) / cpu_step)};
  const auto [number, is_new] = keys_.intern(key);
  if (is_new) {
    cells_.push_back({problem_.nodes[node.node].node_class,
                      state_.idle_devices(node.node),
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

}  // namespace muster::placement
