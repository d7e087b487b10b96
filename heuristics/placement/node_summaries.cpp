#include "heuristics/placement/node_summaries.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "model/base/interning.h"
#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"

namespace muster::placement {

NodeSummary requested_by(const PodClass& pod_class) {
  constexpr Amount kNothing = std::numeric_limits<Amount>::min();
  const auto if_any = [](Amount request) { return request > 0 ? request : kNothing; };
  NodeSummary requested{if_any(pod_class.request[kCpu.value()]),
                        if_any(pod_class.request[kMemory.value()]),
                        kNothing,
                        std::numeric_limits<std::int32_t>::min(),
                        0,
                        0,
                        NodeClassIndex::none()};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) requested.idle = pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) requested.share = pod_class.gpu.share;
  return requested;
}

TypicalRequest::TypicalRequest(const Problem& problem, const Indexed<PodClassIndex, std::int64_t>& pending) {
  Amount cpu = 0, memory = 0, gpus = 0;
  Work work = 0;
  for (const PodClassIndex index : problem.pod_classes.indices()) {
    const PodClass& pod_class = problem.pod_classes[index];
    if (pod_class.gpu.devices == 0) continue;
    cpu += pending[index] * pod_class.request[kCpu.value()];
    memory += pending[index] * pod_class.request[kMemory.value()];
    gpus += pending[index] * std::max<Work>(1, pod_class.work / 1000);
    work += pending[index] * pod_class.work;
  }
  if (gpus > 0) per_gpu_ = cpu / gpus;
  if (work < 1000) return;
  cpu_per_room_ = cpu / (work / 1000);
  memory_per_room_ = memory / (work / 1000);
}

std::int32_t TypicalRequest::stranded(std::int64_t idle_devices, Amount free_cpu) const {
  if (per_gpu_ <= 0) return 0;
  const std::int64_t gpus = 1000 * idle_devices - 1000 * std::max<Amount>(0, free_cpu) / per_gpu_;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, std::numeric_limits<std::int32_t>::max()));
}

std::int64_t TypicalRequest::lacking(std::int64_t room, Amount free_cpu, Amount free_memory) const {
  const auto lacks = [&](Amount free, Amount each) {
    return each > 0 ? std::max<std::int64_t>(0, room - saturating_multiply(1000, std::max<Amount>(0, free)) / each) : 0;
  };
  return std::max(lacks(free_cpu, cpu_per_room_), lacks(free_memory, memory_per_room_));
}

void NodeSummaries::begin() {
  const Problem& problem = state_.problem();
  summaries_.clear();
  summaries_.reserve(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) summaries_.push_back(summary_of(node));
}

NodeSummary NodeSummaries::summary_of(NodeIndex node) const {
  constexpr std::int64_t kMillion = 1'000'000;
  const Problem& problem = state_.problem();
  const auto free = state_.free(node);
  const DeviceUnits per_millionth = problem.device_capacity(node) / kMillion;
  DeviceUnits most = 0, all = 0;
  for (const DeviceUnits units : state_.free_devices(node)) {
    most = std::max(most, units);
    all += units;
  }
  const std::int32_t idle = state_.idle_devices(node);
  return {free[kCpu.value()],
          free[kMemory.value()],
          most / per_millionth,
          idle,
          typical_.stranded(idle, free[kCpu.value()]),
          static_cast<std::int32_t>(all / (1000 * per_millionth)),
          problem.nodes[node].node_class};
}

void NodeMarks::begin() {
  last_change_.assign(state_.problem().nodes.size(), 0);
  read_ = state_.changes().touched().size();
}

void NodeMarks::group_equal_nodes() {
  const Problem& problem = state_.problem();
  SequenceTable rooms;
  std::vector<std::uint64_t> signature;
  std::vector<std::uint32_t> group_of_node;
  groups_.clear();
  for (const NodeIndex node : problem.nodes.indices()) {
    signature.assign({problem.nodes[node].node_class.value()});
    if (room_.has_departing(node)) signature.push_back(node.value());
    for (const Amount free : state_.free(node)) signature.push_back(static_cast<std::uint64_t>(free));
    for (const DeviceUnits free : state_.free_devices(node)) signature.push_back(static_cast<std::uint64_t>(free));
    const auto [group, is_new] = rooms.intern(signature);
    group_of_node.push_back(group);
    if (is_new) groups_.push_back({0, 0});
    ++groups_[group].end;
  }
  std::uint32_t begin = 0;
  for (Group& group : groups_) {
    group.next = begin;
    begin += std::exchange(group.end, begin);
  }
  nodes_.resize(problem.nodes.size());
  for (const NodeIndex node : problem.nodes.indices()) nodes_[groups_[group_of_node[node.value()]].end++] = node;
  last_change_.assign(problem.nodes.size(), 0);
}

std::span<const NodeIndex> NodeMarks::group_of(const MarkedNode& node) const {
  MUSTER_REQUIRE_SLOW(is_group(node));
  const Group& group = groups_[node.mark & ~kOfGroup];
  return std::span(nodes_).subspan(group.next, group.end - group.next);
}

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
  std::array<Capacities, kTuning.heuristics.room_steps> rooms;
  const DeviceUnits whole = problem_.device_capacity(node.node);
  for (const DeviceUnits room : state_.free_devices(node.node)) {
    if (room <= 0 || room == whole) continue;
    const std::int64_t step = room * std::ssize(rooms) / whole;
    Capacities& alike = rooms[static_cast<std::size_t>(step)];
    const bool is_first = alike.step == 0;
    alike = {1 + step, is_first ? room : std::min(alike.least, room), std::max(alike.most, room)};
  }
  for (const Capacities& alike : rooms) {
    if (alike.step > 0) add_to(node, alike);
  }
}

void NodeCells::add_to(const MarkedNode& node, const Capacities& rooms) {
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
