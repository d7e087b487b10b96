#include "heuristics/placement/node_ranking.h"

#include <algorithm>
#include <utility>

namespace muster::placement {

namespace {

// value/whole as a number of `bits` bits.
std::uint64_t scaled(std::int64_t value, std::int64_t whole, int bits) {
  if (whole <= 0 || value <= 0) return 0;
  const double part = std::min(1.0, static_cast<double>(value) / static_cast<double>(whole));
  return static_cast<std::uint64_t>(part * static_cast<double>((std::uint64_t{1} << bits) - 1));
}

std::uint64_t capped(std::int64_t value, int bits) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(value, 0, (std::int64_t{1} << bits) - 1));
}

DeviceUnits whole_of(const NodeClass& node_class) {
  constexpr DeviceUnits kMillion = 1'000'000;
  return std::max<std::int64_t>(1, node_class.device_memory_mib) * kMillion;
}

}  // namespace

NodeScore NodeScores::full_score(const PodClass& pod_class, NodeIndex node, const NodeSummary& summary) const {
  if (!pod_class.allowed[summary.node_class.value()]) return kNodeDoesNotFit;
  const Room room = room_of(state_, node);
  if (!fits_beyond_summary(pod_class, node, room)) return kNodeDoesNotFit;
  const NodeScore waits = immediate_.has_departing(node) && !immediate_.fits(pod_class, node) ? 1 : 0;
  const NodeScore own =
      rule_ == NodeRule::kSpread ? spread_score(pod_class, node) : binpack_score(pod_class, node, summary);
  return waits << 63 | preference(pod_class, summary.node_class) << 48 | own;
}

NodeScore NodeScores::preference(const PodClass& pod_class, NodeClassIndex node_class) const {
  const std::int64_t dislike = 100 * std::int64_t{pod_class.preferences.untolerated_soft_taints[node_class.value()]} -
                               std::int64_t{pod_class.preferences.preferred_weight[node_class.value()]};
  return capped(dislike + (1 << 14), 15);
}

// Whether a pod fits on a node whose summary is not short. For most classes the summary suffices.
bool NodeScores::fits_beyond_summary(const PodClass& pod_class, NodeIndex node, const Room& room) const {
  for (std::size_t r = std::max(kCpu.value(), kMemory.value()) + 1; r < room.free.size(); ++r) {
    if (pod_class.request[r] > 0 && pod_class.request[r] > room.free[r]) return false;
  }
  const bool is_told = pod_class.gpu.kind == GpuRequestKind::kWhole ||
                       (pod_class.gpu.kind == GpuRequestKind::kFraction && pod_class.gpu.devices == 1);
  return is_told || fit::devices(room, problem_, pod_class, node);
}

// 16 bits of cpu stranded, 16 bits of devices left, 16 bits of cpu left; for a sharer, 12 bits of devices opened, 12 of
// the room left on the tightest device and 8 of cpu.
NodeScore NodeScores::packing_score(const PodClass& pod_class, const NodeClass& node_class,
                                    const Packing& packing) const {
  const Amount request = pod_class.request[kCpu.value()];
  const NodeScore cpu = scaled(packing.cpu - request, std::max<Amount>(1, node_class.capacity[kCpu.value()]), 15);
  const auto newly_stranded = [&](std::int64_t opened) {
    const std::int64_t after = typical_.stranded(packing.idle - opened, packing.most_cpu - request);
    return capped(std::max(packing.lacking, after - packing.stranded), 16) << 32;
  };
  if (pod_class.gpu.devices == 0) return newly_stranded(0) | capped(packing.idle, 8) << 24 | cpu;
  const bool keeps_cpu = rule_ == NodeRule::kKeepCpu || rule_ == NodeRule::kKeepRoom;
  const DeviceUnits whole = whole_of(node_class);
  if (share_units(pod_class, node_class) == whole) {
    const std::int64_t wanted = pod_class.gpu.devices;
    return (keeps_cpu ? newly_stranded(wanted) : 0) | capped(packing.idle - wanted, 16) << 16 | cpu;
  }
  const std::int64_t opened = packing.opened;
  return (keeps_cpu ? newly_stranded(opened) : 0) | capped(opened, 5) << 27 |
         (opened > 0 ? capped(packing.idle, 7) << 20 : 0) | scaled(packing.tightest, whole, 12) << 8 | cpu >> 7;
}

std::int64_t NodeScores::newly_lacking(const PodClass& pod_class, const NodeSummary& summary) const {
  if (pod_class.gpu.devices == 0) return 0;
  return typical_.lacking(summary.room - pod_class.work, summary.cpu - pod_class.request[kCpu.value()],
                          summary.memory - pod_class.request[kMemory.value()]) -
         typical_.lacking(summary.room, summary.cpu, summary.memory);
}

NodeScore NodeScores::binpack_score(const PodClass& pod_class, NodeIndex node, const NodeSummary& summary) const {
  const NodeClass& node_class = problem_.node_classes[summary.node_class];
  Packing packing{summary.idle, summary.stranded, summary.cpu, summary.cpu, 0, 0, 0};
  if (rule_ == NodeRule::kKeepRoom) packing.lacking = newly_lacking(pod_class, summary);
  if (shares_devices(pod_class)) {
    // On devices that are already shared, the tightest first; on an idle one only if there is none.
    const DeviceUnits units = share_units(pod_class, node_class), whole = whole_of(node_class);
    packing.opened = pod_class.gpu.devices;
    packing.tightest = whole;
    for (const DeviceUnits free : state_.free_devices(node)) {
      if (free < units || free == whole) continue;
      packing.opened = std::max<std::int64_t>(0, packing.opened - 1);
      packing.tightest = std::min(packing.tightest, free - units);
    }
  }
  return packing_score(pod_class, node_class, packing);
}

// For any node of the cell: each term is as low as it can be, given all of the higher ones.
NodeScore NodeScores::least(const PodClass& pod_class, const NodeSummary& requested,
                            const NodeCells::Cell& cell) const {
  if (!pod_class.allowed[cell.node_class.value()] || requested.cpu > cell.most_cpu) return kNodeDoesNotFit;
  const NodeScore preferred = preference(pod_class, cell.node_class) << 48;
  const NodeClass& node_class = problem_.node_classes[cell.node_class];
  Packing packing{cell.idle, typical_.stranded(cell.idle, cell.least_cpu), cell.least_cpu, cell.most_cpu, 0, 0, 0};
  if (cell.is_of_room) {
    const DeviceUnits units = share_units(pod_class, node_class);
    if (units > cell.most_room) return kNodeDoesNotFit;
    packing.tightest = std::max<DeviceUnits>(0, cell.least_room - units);
  } else if (cell.idle < pod_class.gpu.devices) {
    return kNodeDoesNotFit;  // a sharer's node may have room on other devices: it is in the cells of these, too
  } else {
    packing.opened = pod_class.gpu.devices;
    packing.tightest = whole_of(node_class);
  }
  return rule_ == NodeRule::kSpread ? preferred : preferred | packing_score(pod_class, node_class, packing);
}

// What is in use, as level `fragmentation` counts it for `spread`: GPU thousandths, or cpu if the node has no devices.
NodeScore NodeScores::spread_score(const PodClass& pod_class, NodeIndex node) const {
  const NodeClass& node_class = problem_.class_of(node);
  const Room room = room_of(state_, node);
  const Amount cpu_capacity = std::max<Amount>(1, node_class.capacity[kCpu.value()]);
  const Amount cpu_used = cpu_capacity - room.free[kCpu.value()];
  const NodeScore cpu = scaled(cpu_used, cpu_capacity, 20);
  if (node_class.device_count == 0) return cpu << 24;
  DeviceUnits used = 0;
  const DeviceUnits whole = problem_.device_capacity(node);
  for (const DeviceUnits free : room.devices) used += whole - free;
  const std::int64_t thousandths = used / std::max<DeviceUnits>(1, whole / 1000);
  // A pod without GPUs adds nothing to a node with devices; among these it takes the one with the least used cpu.
  return pod_class.gpu.devices == 0 ? cpu : capped(thousandths, 24) << 20 | cpu;
}

void find_bounds(const NodeScores& scores, const PodClass& pod_class, const NodeSummary& requested,
                 const std::vector<NodeCells::Cell>& cells, std::vector<CellBound>& bounds) {
  bounds.clear();
  for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
    const NodeScore least = scores.least(pod_class, requested, cells[cell]);
    if (least != kNodeDoesNotFit) bounds.push_back({least, cell});
  }
  std::ranges::make_heap(bounds, IsAfter{});
}

NodeIndex NodeRanking::best() {
  if (!has_begun_ || !update()) begin();
  take_best();
  return best_.node;
}

void NodeRanking::begin() {
  cells_.follow();
  best_ = {};
  heap_.clear();
  find_bounds(scores_, pod_class_, requested_, cells_.all(), bounds_);
  begun_ = read_ = marks_.read();
  has_begun_ = true;
}

// Examines nodes that changed since the last call. False: more changes than there are nodes, so that beginning anew
// costs less.
bool NodeRanking::update() {
  if (marks_.read() - read_ > scores_.state().problem().nodes.size()) return false;
  const std::vector<NodeIndex>& touched = scores_.state().changes().touched();
  bool has_best_changed = false;
  for (; read_ < marks_.read(); ++read_) {
    const NodeIndex node = touched[read_];
    if (marks_.last_change(node) != read_ + 1) continue;  // it comes again
    if (node == best_.node) {
      has_best_changed = true;
    } else {
      put(ranked(node));
    }
  }
  if (!has_best_changed) return true;
  const RankedNode now = ranked(best_.node);
  RankedNode before = std::exchange(best_, now.score == kNodeDoesNotFit ? RankedNode{} : now);
  if (marks_.advance(before)) put(before);
  return true;
}

// As the node is now.
RankedNode NodeRanking::ranked(NodeIndex node) const {
  return {marks_.marked(node), scores_.of(pod_class_, requested_, node)};
}

void NodeRanking::put(const RankedNode& ranked) {
  if (ranked.score == kNodeDoesNotFit) return;
  heap_.push_back(ranked);
  std::ranges::push_heap(heap_, IsAfter{});
}

// Puts its nodes into the heap, except those that have changed since the ranking was begun: `update` has seen to them.
void NodeRanking::examine(NodeCells::Cell& cell) {
  constexpr std::size_t kAhead = 6;
  for (std::size_t at = 0; at < cell.nodes.size();) {
    const std::size_t soon = at + kAhead, later = soon + kAhead;
    if (later < cell.nodes.size()) {
      marks_.fetch(cell.nodes[later].node);
      scores_.fetch(cell.nodes[later].node);
    }
    if (soon < cell.nodes.size()) scores_.fetch_devices(cell.nodes[soon].node);
    MarkedNode& node = cell.nodes[at];
    if (marks_.is_stale(node) && !marks_.advance(node)) {
      node = cell.nodes.back();
      cell.nodes.pop_back();
      continue;
    }
    ++at;
    if (marks_.last_change(node.node) > begun_) continue;
    put({node, scores_.of(pod_class_, requested_, node.node)});
  }
}

void NodeRanking::take_best() {
  take_first_of_heap();
  while (!bounds_.empty() && bounds_.front().score <= best_.score) {
    std::ranges::pop_heap(bounds_, IsAfter{});
    examine(cells_.all()[bounds_.back().cell]);
    bounds_.pop_back();
    take_first_of_heap();
  }
}

// The best, if the heap's first node that has not changed is better.
void NodeRanking::take_first_of_heap() {
  while (!heap_.empty() && heap_.front().is_before(best_)) {
    std::ranges::pop_heap(heap_, IsAfter{});
    RankedNode first = heap_.back();
    heap_.pop_back();
    if (!marks_.is_stale(first)) {
      put(std::exchange(best_, first));
      return;
    }
    if (marks_.advance(first)) put(first);
  }
}

}  // namespace muster::placement
