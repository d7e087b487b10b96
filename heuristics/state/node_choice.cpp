#include "heuristics/state/node_choice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/interning.h"
#include "model/base/require.h"

namespace muster {

namespace {

constexpr std::int64_t kListWorthPods = 4;  // below that, scanning all nodes each time is cheaper than a list

// Rebuilding a list costs as much as reading this many changes: those of all cells, and of a part of the nodes.
constexpr std::size_t kNewListCosts = 16;
constexpr std::size_t kNodesOfACell = 4;  // with fewer, bounds of cells cost more than the scores that they save

constexpr std::int64_t kMillion = 1'000'000;
constexpr Amount kNothing = std::numeric_limits<Amount>::min();

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
  return std::max<std::int64_t>(1, node_class.device_memory_mib) * kMillion;
}

// Asks for parts of devices.
bool is_sharer(const PodClass& pod_class) {
  return pod_class.gpu.kind == GpuRequestKind::kFraction && pod_class.gpu.share < kMillion;
}

}  // namespace

NodeChooser::NodeChooser(const ClusterState& state, const QueueBounds& bounds, NodeRule rule)
    : problem_(state.problem()),
      state_(state),
      bounds_(bounds),
      rule_(rule),
      pending_(problem_.pod_classes.size(), 0),
      lists_(problem_.pod_classes.size()),
      has_releasing_(problem_.nodes.size(), 0) {
  Amount cpu = 0, devices = 0;
  for (const PodIndex pod : problem_.pods.indices()) {
    const Pod& p = problem_.pods[pod];
    const PodClass& pod_class = problem_.pod_classes[p.pod_class];
    if (p.status == PodStatus::kPending) ++pending_[p.pod_class];
    if (p.status == PodStatus::kPending && pod_class.gpu.devices > 0) {
      cpu += pod_class.request[kCpu.value()];
      devices += std::max<Work>(1, pod_class.work / 1000);
    }
    if (!p.node.is_none() && p.status == PodStatus::kReleasing) has_releasing_[p.node] = 1;
  }
  for (const PodClassIndex pod_class : problem_.pod_classes.indices()) {
    const bool has_list = !problem_.pod_classes[pod_class].has_company_rules() && wants_list(pod_class);
    if (!has_list) pending_without_list_ += pending_[pod_class];
  }
  list_occupants();
  if (devices > 0) typical_cpu_per_gpu_ = cpu / devices;
  for (const NodeIndex node : problem_.nodes.indices()) all_nodes_.push_back(node);
  touched_read_ = state.touched().size();
}

void NodeChooser::list_occupants() {
  const auto for_each = [&](const auto& visit) {
    for (const PodIndex pod : problem_.pods.indices()) {
      const Pod& p = problem_.pods[pod];
      if (p.node.is_none() || (p.status != PodStatus::kRunning && p.status != PodStatus::kReleasing)) continue;
      visit(pod, p.node.value());
    }
  };
  occupants_begin_.assign(problem_.nodes.size() + 1, 0);
  for_each([&](PodIndex, std::uint32_t node) { ++occupants_begin_[node + 1]; });
  std::partial_sum(occupants_begin_.begin(), occupants_begin_.end(), occupants_begin_.begin());
  occupants_.resize(occupants_begin_.back());
  std::vector<std::uint32_t> next(occupants_begin_.begin(), occupants_begin_.end() - 1);
  for_each([&](PodIndex pod, std::uint32_t node) { occupants_[next[node]++] = pod; });
}

NodeIndex NodeChooser::choose(PodIndex pod, std::span<const NodeIndex> among) {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  const PodClass& pod_class = problem_.pod_classes[class_index];
  // What other pods and a queue's bounds allow changes without a change of the node: such pods have no list.
  const bool is_plain = !pod_class.has_company_rules() && pod_class.gpu.kind != GpuRequestKind::kMemory;
  if (all_nodes_.empty()) return NodeIndex::none();
  read_touched();
  if (!among.empty()) return best_of_equals(pod, scan(pod, among), among);
  if (!is_plain || !wants_list(class_index)) {
    const NodeIndex best = is_by_cells(class_index) ? scan_cells(pod) : scan(pod, all_nodes_);
    return best_of_equals(pod, best, all_nodes_);
  }
  const NodeIndex node = best_of_equals(pod, best_of_list(class_index), all_nodes_);
  // On every node a plain pod adds the same to its queue, so if the queue's bounds reject one node they reject all.
  return !node.is_none() && fits_queue(state_, bounds_, pod, node) ? node : NodeIndex::none();
}

NodeIndex NodeChooser::scan(PodIndex pod, std::span<const NodeIndex> among) const {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  const Glance asked = asked_by(problem_.pod_classes[class_index]);
  NodeIndex best = NodeIndex::none();
  Score best_score = kNoFit;
  for (const NodeIndex node : among) {
    if (is_short(glances_[node], asked)) continue;
    const Score s = score(class_index, node, glances_[node]);
    if (s < best_score && can_place(state_, bounds_, pod, node)) {
      best_score = s;
      best = node;
    }
  }
  return best;
}

// The result of scan(pod, all_nodes_). Nodes with similar free capacity share a cell, and cells whose bound is worse
// than the best node so far need not be examined.
NodeIndex NodeChooser::scan_cells(PodIndex pod) {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  const PodClass& pod_class = problem_.pod_classes[class_index];
  const Glance asked = asked_by(pod_class);
  const std::size_t most_cells = all_nodes_.size() / kNodesOfACell;
  Cells& known = is_sharer(pod_class) ? sharers_cells_ : others_cells_;
  if (known.cells && known.cells->all().size() > most_cells) return scan(pod, all_nodes_);  // they only grow in number
  std::vector<NodeCells::Cell>& cells = cells_for(pod_class).all();
  if (cells.size() > most_cells) return scan(pod, all_nodes_);
  std::vector<Bound>& bounds = bounds_of_cells_;
  bounds.clear();
  for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
    const Score least = least_score(pod_class, asked, cells[cell]);
    if (least != kNoFit) bounds.push_back({least, cell});
  }
  std::ranges::make_heap(bounds, IsAfter{});
  Ranked best;
  while (!bounds.empty() && bounds.front().score <= best.score) {
    std::ranges::pop_heap(bounds, IsAfter{});
    std::vector<MarkedNode>& nodes = cells[bounds.back().cell].nodes;
    bounds.pop_back();
    for (std::size_t at = 0; at < nodes.size();) {
      if (is_stale(nodes[at]) && !become_next_alike(nodes[at])) {
        nodes[at] = nodes.back();
        nodes.pop_back();
        continue;
      }
      look_for_place(nodes[at++], pod, best);
    }
  }
  return best.node;
}

// The node, or the first of those that it represents, if it is better and may take the pod.
void NodeChooser::look_for_place(const MarkedNode& node, PodIndex pod, Ranked& best) {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  Ranked found = ranked(class_index, asked_by(problem_.pod_classes[class_index]), node.node);
  if (found.score == kNoFit || found.score > best.score) return;
  const auto take = [&](NodeIndex candidate) {
    found.node = candidate;
    if (!found.is_before(best) || !can_place(state_, bounds_, pod, candidate)) return false;
    best = found;
    return true;
  };
  if ((node.mark & kOfAlike) == 0) {
    take(node.node);
    return;
  }
  const Alike& alike = alike_[node.mark & ~kOfAlike];
  for (std::uint32_t i = alike.next; i < alike.end; ++i) {
    if (touched_at_[alike_nodes_[i]] > 0) continue;
    if (take(alike_nodes_[i]) || !found.is_before(best)) return;  // those to come are no better
  }
}

// The first that meets most of the pod's preferred terms, among those that are as good as the best by the quick check.
NodeIndex NodeChooser::best_of_equals(PodIndex pod, NodeIndex best, std::span<const NodeIndex> among) const {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  const PodClass& pod_class = problem_.pod_classes[class_index];
  if (best.is_none() || pod_class.wishes_owned.empty()) return best;
  const Glance& glance = glances_[best];
  const Score least = score(class_index, best, glance);
  std::int64_t most = state_.wishes().points(pod_class, best);
  for (const NodeIndex node : among) {
    if (!has_equal_room(glances_[node], glance)) continue;
    const std::int64_t points = state_.wishes().points(pod_class, node);
    if (points <= most || score(class_index, node, glances_[node]) != least || !can_place(state_, bounds_, pod, node))
      continue;
    most = points;
    best = node;
  }
  return best;
}

DeviceList NodeChooser::devices_for(PodIndex pod, NodeIndex node) const {
  const PodClass& pod_class = problem_.class_of(pod);
  if (has_departing(node)) {
    if (auto devices = choose_devices(held_room(node), problem_, pod_class, node)) return *devices;
  }
  auto devices = choose_devices(room_of(state_, node), problem_, pod_class, node);
  return devices ? *devices : DeviceList{};
}

std::int64_t NodeChooser::copies(PodClassIndex class_index, NodeIndex node, std::int64_t limit) const {
  const PodClass& pod_class = problem_.pod_classes[class_index];
  if (!fit::node(problem_, pod_class, node) || !fit::anti_affinity(state_, pod_class, node)) return 0;
  const Room room = room_of(state_, node);
  for (std::size_t r = 0; r < room.free.size(); ++r) {
    if (pod_class.request[r] > 0) limit = std::min(limit, std::max<Amount>(0, room.free[r]) / pod_class.request[r]);
  }
  if (pod_class.gpu.devices == 0 || limit == 0) return limit;
  if (!fit::devices(room, problem_, pod_class, node)) return 0;
  const DeviceUnits units = share_units(pod_class, problem_.class_of(node));
  std::int64_t shares = 0;
  for (const DeviceUnits free : room.devices) shares += free / units;
  return std::min<std::int64_t>(limit, shares / pod_class.gpu.devices);
}

// --- Scores

// From the top: 1 bit that it would have to wait for departures, 15 bits of preference (weights of preferred terms,
// soft taints), 48 bits of the rule's own.
NodeChooser::Score NodeChooser::score(PodClassIndex class_index, NodeIndex node, const Glance& glance) const {
  const PodClass& pod_class = problem_.pod_classes[class_index];
  MUSTER_REQUIRE_SLOW(!is_short(glance, asked_by(pod_class)));
  if (!pod_class.allowed[glance.node_class.value()]) return kNoFit;
  const Room room = room_of(state_, node);
  if (!fits_beyond_glance(pod_class, node, room)) return kNoFit;
  const Score waits = has_departing(node) && !fits_at_once(pod_class, node) ? 1 : 0;
  const Score own = rule_ == NodeRule::kSpread ? spread_score(pod_class, node) : binpack_score(pod_class, node, glance);
  return waits << 63 | preference(pod_class, glance.node_class) << 48 | own;
}

NodeChooser::Score NodeChooser::preference(const PodClass& pod_class, NodeClassIndex node_class) const {
  const std::int64_t dislike = 100 * std::int64_t{pod_class.untolerated_soft_taints[node_class.value()]} -
                               std::int64_t{pod_class.preferred_weight[node_class.value()]};
  return capped(dislike + (1 << 14), 15);
}

// Whether a pod fits on a node that passes the quick check. For most classes the quick check suffices.
bool NodeChooser::fits_beyond_glance(const PodClass& pod_class, NodeIndex node, const Room& room) const {
  for (std::size_t r = std::max(kCpu.value(), kMemory.value()) + 1; r < room.free.size(); ++r) {
    if (pod_class.request[r] > 0 && pod_class.request[r] > room.free[r]) return false;
  }
  const bool is_told = pod_class.gpu.kind == GpuRequestKind::kWhole ||
                       (pod_class.gpu.kind == GpuRequestKind::kFraction && pod_class.gpu.devices == 1);
  return is_told || fit::devices(room, problem_, pod_class, node);
}

// GPUs that would have no cpu left for a typical pod, in thousandths.
std::int32_t NodeChooser::stranded(std::int64_t idle_devices, Amount free_cpu) const {
  if (typical_cpu_per_gpu_ <= 0) return 0;
  const std::int64_t gpus = 1000 * idle_devices - 1000 * std::max<Amount>(0, free_cpu) / typical_cpu_per_gpu_;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, std::numeric_limits<std::int32_t>::max()));
}

// 16 bits of cpu stranded, 16 bits of devices left, 16 bits of cpu left; for a sharer, 12 bits of devices opened, 12 of
// the room left on the tightest device and 8 of cpu.
NodeChooser::Score NodeChooser::packing_score(const PodClass& pod_class, const NodeClass& node_class,
                                              const Packing& packing) const {
  const Amount request = pod_class.request[kCpu.value()];
  const Score cpu = scaled(packing.cpu - request, std::max<Amount>(1, node_class.capacity[kCpu.value()]), 15);
  const auto newly_stranded = [&](std::int64_t opened) {
    return capped(std::int64_t{stranded(packing.idle - opened, packing.most_cpu - request)} - packing.stranded, 16)
           << 32;
  };
  if (pod_class.gpu.devices == 0) return newly_stranded(0) | capped(packing.idle, 8) << 24 | cpu;
  const bool keeps_cpu = rule_ == NodeRule::kKeepCpu;
  const DeviceUnits whole = whole_of(node_class);
  if (share_units(pod_class, node_class) == whole) {
    const std::int64_t wanted = pod_class.gpu.devices;
    return (keeps_cpu ? newly_stranded(wanted) : 0) | capped(packing.idle - wanted, 16) << 16 | cpu;
  }
  const std::int64_t opened = packing.opened;
  return (keeps_cpu ? newly_stranded(opened) : 0) | capped(opened, 5) << 27 |
         (opened > 0 ? capped(packing.idle, 7) << 20 : 0) | scaled(packing.tightest, whole, 12) << 8 | cpu >> 7;
}

NodeChooser::Score NodeChooser::binpack_score(const PodClass& pod_class, NodeIndex node, const Glance& glance) const {
  const NodeClass& node_class = problem_.node_classes[glance.node_class];
  Packing packing{glance.idle, glance.stranded, glance.cpu, glance.cpu, 0, 0};
  if (is_sharer(pod_class)) {
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
NodeChooser::Score NodeChooser::least_score(const PodClass& pod_class, const Glance& asked,
                                            const NodeCells::Cell& cell) const {
  if (!pod_class.allowed[cell.node_class.value()] || asked.cpu > cell.most_cpu) return kNoFit;
  const Score preferred = preference(pod_class, cell.node_class) << 48;
  const NodeClass& node_class = problem_.node_classes[cell.node_class];
  Packing packing{cell.idle, stranded(cell.idle, cell.least_cpu), cell.least_cpu, cell.most_cpu, 0, 0};
  if (cell.is_of_room) {
    const DeviceUnits units = share_units(pod_class, node_class);
    if (units > cell.most_room) return kNoFit;
    packing.tightest = std::max<DeviceUnits>(0, cell.least_room - units);
  } else if (cell.idle < pod_class.gpu.devices) {
    return kNoFit;  // a sharer's node may have room on other devices: it is in the cells of these, too
  } else {
    packing.opened = pod_class.gpu.devices;
    packing.tightest = whole_of(node_class);
  }
  return rule_ == NodeRule::kSpread ? preferred : preferred | packing_score(pod_class, node_class, packing);
}

// What is in use, as level `fragmentation` counts it for `spread`: GPU thousandths, or cpu if the node has no devices.
NodeChooser::Score NodeChooser::spread_score(const PodClass& pod_class, NodeIndex node) const {
  const NodeClass& node_class = problem_.class_of(node);
  const Room room = room_of(state_, node);
  const Amount cpu_capacity = std::max<Amount>(1, node_class.capacity[kCpu.value()]);
  const Amount cpu_used = cpu_capacity - room.free[kCpu.value()];
  const Score cpu = scaled(cpu_used, cpu_capacity, 20);
  if (node_class.device_count == 0) return cpu << 24;
  DeviceUnits used = 0;
  const DeviceUnits whole = problem_.device_capacity(node);
  for (const DeviceUnits free : room.devices) used += whole - free;
  const std::int64_t thousandths = used / std::max<DeviceUnits>(1, whole / 1000);
  // A pod without GPUs adds nothing to a node with devices; among these it takes the one with the least used cpu.
  return pod_class.gpu.devices == 0 ? cpu : capped(thousandths, 24) << 20 | cpu;
}

// --- Room that is on its way out

bool NodeChooser::has_departing(NodeIndex node) const { return has_releasing_[node] != 0 || state_.departed(node) > 0; }

Room NodeChooser::held_room(NodeIndex node) const {
  const auto free = state_.free(node);
  const auto devices = state_.free_devices(node);
  held_free_.assign(free.begin(), free.end());
  held_devices_.assign(devices.begin(), devices.end());
  for (const PodIndex pod : occupants(node)) {
    if (state_.is_present(pod) && state_.node_of(pod) == node) continue;
    const PodClass& pod_class = problem_.class_of(pod);
    for (std::size_t r = 0; r < held_free_.size(); ++r) held_free_[r] -= pod_class.request[r];
    const auto held = problem_.devices_of(pod);
    if (held.empty()) continue;
    const DeviceUnits units = share_units(pod_class, problem_.class_of(node));
    for (const std::int32_t device : held) held_devices_[static_cast<std::size_t>(device)] -= units;
  }
  return {held_free_, held_devices_};
}

bool NodeChooser::fits_at_once(const PodClass& pod_class, NodeIndex node) const {
  const Room room = held_room(node);
  return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

// --- The lists

bool NodeChooser::wants_list(PodClassIndex pod_class) const {
  return lists_[pod_class] != nullptr || pending_[pod_class] >= kListWorthPods;
}

// An affinity admits so few nodes that bounds of their scores never end a search.
bool NodeChooser::is_by_cells(PodClassIndex index) const {
  const PodClass& pod_class = problem_.pod_classes[index];
  if (pod_class.gpu.kind == GpuRequestKind::kMemory || !pod_class.affinity.is_none()) return false;
  const Cells& cells = is_sharer(pod_class) ? sharers_cells_ : others_cells_;
  return cells.cells || pending_without_list_ >= kListWorthPods;
}

NodeIndex NodeChooser::best_of_list(PodClassIndex pod_class) {
  auto& list = lists_[pod_class];
  if (list == nullptr) {
    list = std::make_unique<List>();
    begin_list(pod_class, *list);
  } else if (!update(pod_class, *list)) {
    begin_list(pod_class, *list);
  }
  take_best(pod_class, *list);
  return list->best.node;
}

void NodeChooser::begin_list(PodClassIndex class_index, List& list) {
  const PodClass& pod_class = problem_.pod_classes[class_index];
  const Glance asked = asked_by(pod_class);
  std::vector<NodeCells::Cell>& cells = cells_for(pod_class).all();
  list.best = {};
  list.heap.clear();
  list.bounds.clear();
  for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
    const Score least = least_score(pod_class, asked, cells[cell]);
    if (least != kNoFit) list.bounds.push_back({least, cell});
  }
  std::ranges::make_heap(list.bounds, IsAfter{});
  list.cells = cells.size();
  list.begun = list.read = touched_read_;
}

// Every node is in its cell with its current state; it may also be there with an older state.
NodeCells& NodeChooser::cells_for(const PodClass& pod_class) {
  if (alike_nodes_.empty()) group_alike();
  Cells& of = is_sharer(pod_class) ? sharers_cells_ : others_cells_;
  const auto add = [&](NodeIndex node) { of.cells->add(state_, {node, state_.version(node) & ~kOfAlike}); };
  if (!of.cells) {
    of.cells.emplace(problem_, is_sharer(pod_class) ? NodeCells::By::kRoom : NodeCells::By::kIdleDevices);
    for (std::uint32_t at = 0; at < alike_.size(); ++at) {
      if (has_untouched(alike_[at])) of.cells->add(state_, {alike_nodes_[alike_[at].next], kOfAlike | at});
    }
    for (const NodeIndex node : all_nodes_) {
      if (touched_at_[node] > 0) add(node);
    }
    of.read = touched_read_;
  }
  constexpr std::size_t kAhead = 8;
  const auto& touched = state_.touched();
  for (; of.read < touched_read_; ++of.read) {
    if (of.read + kAhead < touched_read_) fetch(touched[of.read + kAhead]);
    if (touched_at_[touched[of.read]] == of.read + 1) add(touched[of.read]);
  }
  return *of.cells;
}

// Examines nodes that changed since the last call. False: there are so many that a new list costs less.
bool NodeChooser::update(PodClassIndex pod_class, List& list) {
  if (touched_read_ - list.read > list.cells + all_nodes_.size() / kNewListCosts) return false;
  const Glance asked = asked_by(problem_.pod_classes[pod_class]);
  const auto& touched = state_.touched();
  bool has_best_changed = false;
  for (; list.read < touched_read_; ++list.read) {
    const NodeIndex node = touched[list.read];
    if (touched_at_[node] != list.read + 1) continue;  // it comes again
    if (node == list.best.node) {
      has_best_changed = true;
    } else {
      put_on(list, ranked(pod_class, asked, node));
    }
  }
  if (!has_best_changed) return true;
  const Ranked now = ranked(pod_class, asked, list.best.node);
  Ranked before = std::exchange(list.best, now.score == kNoFit ? Ranked{} : now);
  if (become_next_alike(before)) put_on(list, before);
  return true;
}

// As the node is now.
NodeChooser::Ranked NodeChooser::ranked(PodClassIndex pod_class, const Glance& asked, NodeIndex node) const {
  const Score own = is_short(glances_[node], asked) ? kNoFit : score(pod_class, node, glances_[node]);
  return {{node, state_.version(node) & ~kOfAlike}, own};
}

bool NodeChooser::is_stale(const MarkedNode& node) const {
  if ((node.mark & kOfAlike) != 0) return touched_at_[node.node] > 0;
  return (state_.version(node.node) & ~kOfAlike) != node.mark;
}

void NodeChooser::put_on(List& list, const Ranked& ranked) {
  if (ranked.score == kNoFit) return;
  list.heap.push_back(ranked);
  std::ranges::push_heap(list.heap, IsAfter{});
}

// Puts its nodes on the list, except those that have changed since the list was begun: `update` has seen to them.
void NodeChooser::look_into(NodeCells::Cell& cell, PodClassIndex pod_class, List& list) {
  constexpr std::size_t kAhead = 6;
  const Glance asked = asked_by(problem_.pod_classes[pod_class]);
  for (std::size_t at = 0; at < cell.nodes.size();) {
    const std::size_t soon = at + kAhead, later = soon + kAhead;
    if (later < cell.nodes.size()) fetch(cell.nodes[later].node);
    if (soon < cell.nodes.size()) state_.fetch_devices(cell.nodes[soon].node);
    MarkedNode& node = cell.nodes[at];
    if (is_stale(node) && !become_next_alike(node)) {
      node = cell.nodes.back();
      cell.nodes.pop_back();
      continue;
    }
    ++at;
    if (touched_at_[node.node] > list.begun) continue;
    Ranked now = ranked(pod_class, asked, node.node);
    now.mark = node.mark;
    put_on(list, now);
  }
}

void NodeChooser::fetch(NodeIndex node) const {
  __builtin_prefetch(&touched_at_[node]);
  __builtin_prefetch(&glances_[node]);
  state_.fetch(node);
}

// If it represented equivalent nodes, the next of them takes its place. False: there is none.
bool NodeChooser::become_next_alike(MarkedNode& node) {
  if ((node.mark & kOfAlike) == 0) return false;
  Alike& alike = alike_[node.mark & ~kOfAlike];
  if (!has_untouched(alike)) return false;
  node.node = alike_nodes_[alike.next];
  return true;
}

void NodeChooser::take_best(PodClassIndex pod_class, List& list) {
  NodeCells* cells = nullptr;
  take_first_of_heap(list);
  while (!list.bounds.empty() && list.bounds.front().score <= list.best.score) {
    if (cells == nullptr) cells = &*(is_sharer(problem_.pod_classes[pod_class]) ? sharers_cells_ : others_cells_).cells;
    std::ranges::pop_heap(list.bounds, IsAfter{});
    look_into(cells->all()[list.bounds.back().cell], pod_class, list);
    list.bounds.pop_back();
    take_first_of_heap(list);
  }
}

// The best, if the heap's first node that has not changed is better.
void NodeChooser::take_first_of_heap(List& list) {
  std::vector<Ranked>& heap = list.heap;
  while (!heap.empty() && heap.front().is_before(list.best)) {
    std::ranges::pop_heap(heap, IsAfter{});
    Ranked first = heap.back();
    heap.pop_back();
    if (!is_stale(first)) {
      put_on(list, std::exchange(list.best, first));
      return;
    }
    if (become_next_alike(first)) put_on(list, first);
  }
}

// Brings what is known of nodes at a glance up to date.
void NodeChooser::read_touched() {
  const auto& touched = state_.touched();
  if (glances_.empty()) {
    for (const NodeIndex node : all_nodes_) glances_.push_back(glance_at(node));
    touched_at_.assign(all_nodes_.size(), 0);
    touched_read_ = touched.size();
  }
  for (; touched_read_ < touched.size(); ++touched_read_) {
    const NodeIndex node = touched[touched_read_];
    if (touched_read_ + 1 < touched.size() && touched[touched_read_ + 1] == node) continue;
    glances_[node] = glance_at(node);
    touched_at_[node] = touched_read_ + 1;
  }
}

NodeChooser::Glance NodeChooser::glance_at(NodeIndex node) const {
  const auto free = state_.free(node);
  const DeviceUnits per_millionth = problem_.device_capacity(node) / kMillion;
  DeviceUnits most = 0;
  for (const DeviceUnits units : state_.free_devices(node)) most = std::max(most, units);
  const std::int32_t idle = state_.idle_devices(node);
  return {free[kCpu.value()],
          free[kMemory.value()],
          most / per_millionth,
          idle,
          stranded(idle, free[kCpu.value()]),
          problem_.nodes[node].node_class};
}

NodeChooser::Glance NodeChooser::asked_by(const PodClass& pod_class) {
  const auto if_any = [](Amount request) { return request > 0 ? request : kNothing; };
  Glance asked{if_any(pod_class.request[kCpu.value()]),
               if_any(pod_class.request[kMemory.value()]),
               kNothing,
               std::numeric_limits<std::int32_t>::min(),
               0,
               NodeClassIndex::none()};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) asked.idle = pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) asked.share = pod_class.gpu.share;
  return asked;
}

bool NodeChooser::has_equal_room(const Glance& a, const Glance& b) {
  return a.cpu == b.cpu && a.memory == b.memory && a.share == b.share && a.idle == b.idle;
}

bool NodeChooser::is_short(const Glance& free, const Glance& asked) {
  return asked.cpu > free.cpu || asked.memory > free.memory || asked.idle > free.idle || asked.share > free.share;
}

// Nodes of one class that nothing departs from, with equal room on equal devices. As of now, so that none is touched.
void NodeChooser::group_alike() {
  SequenceTable rooms;
  std::vector<std::uint64_t> signature;
  std::vector<std::uint32_t> room_of_node;
  for (const NodeIndex node : all_nodes_) {
    signature.assign({problem_.nodes[node].node_class.value()});
    if (has_departing(node)) signature.push_back(node.value());
    for (const Amount free : state_.free(node)) signature.push_back(static_cast<std::uint64_t>(free));
    for (const DeviceUnits free : state_.free_devices(node)) signature.push_back(static_cast<std::uint64_t>(free));
    const auto [room, is_new] = rooms.intern(signature);
    room_of_node.push_back(room);
    if (is_new) alike_.push_back({glances_[node], 0, 0});
    ++alike_[room].end;
  }
  std::uint32_t begin = 0;
  for (Alike& alike : alike_) {
    alike.next = begin;
    begin += std::exchange(alike.end, begin);
  }
  alike_nodes_.resize(all_nodes_.size());
  for (const NodeIndex node : all_nodes_) alike_nodes_[alike_[room_of_node[node.value()]].end++] = node;
  touched_at_.assign(all_nodes_.size(), 0);
}

bool NodeChooser::has_untouched(Alike& alike) const {
  while (alike.next < alike.end && touched_at_[alike_nodes_[alike.next]] > 0) ++alike.next;
  return alike.next < alike.end;
}

}  // namespace muster
