#include "heuristics/node_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "model/interning.h"

namespace muster {

namespace {

constexpr std::int64_t kListWorthPods = 4;  // below that, scanning all nodes each time is cheaper than a list

// To make a list anew costs as much as to read of so many changes: those of all groups of alike nodes, and of so many
// nodes.
constexpr std::size_t kNewListCosts = 16;
// How much of the rest of a list goes into its heap: so many, and this part.
constexpr std::size_t kLeastRefill = 64, kRefills = 4;

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
  list_occupants();
  if (devices > 0) typical_cpu_per_gpu_ = cpu / devices;
  for (const NodeIndex node : problem_.nodes.indices()) all_nodes_.push_back(node);
  touched_read_ = state.touched().size();
  constexpr Amount kMost = std::numeric_limits<Amount>::max();
  least_asked_.fill({kMost, kMost, kMost, std::numeric_limits<std::int32_t>::max(), 0});
  for (const PodClassIndex pod_class : problem_.pod_classes.indices()) {
    if (!wants_list(pod_class)) continue;
    const Glance asked = asked_by(problem_.pod_classes[pod_class]);
    Glance& least = least_asked_[asks(problem_.pod_classes[pod_class])];
    least = {std::min(least.cpu, asked.cpu), std::min(least.memory, asked.memory), std::min(least.share, asked.share),
             std::min(least.idle, asked.idle), 0};
  }
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
  // What anti-affinity and a queue's bounds allow changes without the node's room changing: such pods look everywhere.
  const bool is_plain = pod_class.anti_affinity_owned.empty() && pod_class.anti_affinity_matched.empty() &&
                        pod_class.gpu.kind != GpuRequestKind::kMemory;
  if (all_nodes_.empty()) return NodeIndex::none();
  read_touched();
  if (!among.empty()) return scan(pod, among);
  if (!is_plain || !wants_list(class_index)) return scan(pod, all_nodes_);
  const NodeIndex node = best_of_list(class_index);
  // Elsewhere a plain pod adds the same to its queue, so where the queue's bounds refuse one node they refuse all.
  return !node.is_none() && can_place(state_, bounds_, pod, node) ? node : NodeIndex::none();
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
  if (!fit::node(problem_, pod_class, node)) return kNoFit;
  const Room room = room_of(state_, node);
  if (!fits_beyond_glance(pod_class, node, room)) return kNoFit;
  const std::size_t node_class = problem_.nodes[node].node_class.value();
  const std::int64_t dislike = 100 * std::int64_t{pod_class.untolerated_soft_taints[node_class]} -
                               std::int64_t{pod_class.preferred_weight[node_class]};
  const Score waits = has_departing(node) && !fits_at_once(pod_class, node) ? 1 : 0;
  const Score own = rule_ == NodeRule::kSpread ? spread_score(pod_class, node) : binpack_score(pod_class, node, glance);
  return waits << 63 | capped(dislike + (1 << 14), 15) << 48 | own;
}

// Whether a pod fits on a node that is not short of anything at a glance. For most classes that says it already.
bool NodeChooser::fits_beyond_glance(const PodClass& pod_class, NodeIndex node, const Room& room) const {
  for (std::size_t r = std::max(kCpu.value(), kMemory.value()) + 1; r < room.free.size(); ++r) {
    if (pod_class.request[r] > 0 && pod_class.request[r] > room.free[r]) return false;
  }
  const bool is_told = pod_class.gpu.kind == GpuRequestKind::kWhole ||
                       (pod_class.gpu.kind == GpuRequestKind::kFraction && pod_class.gpu.devices == 1);
  return is_told || fit::devices(room, problem_, pod_class, node);
}

// GPUs beside which no cpu would be left for what typically comes, in thousandths.
std::int32_t NodeChooser::stranded(std::int64_t idle_devices, Amount free_cpu) const {
  if (typical_cpu_per_gpu_ <= 0) return 0;
  const std::int64_t gpus = 1000 * idle_devices - 1000 * std::max<Amount>(0, free_cpu) / typical_cpu_per_gpu_;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, std::numeric_limits<std::int32_t>::max()));
}

// 16 bits of cpu stranded, 16 bits of devices left, 16 bits of cpu left; for a sharer, 12 bits of devices opened, 12 of
// the room left on the tightest device and 8 of cpu.
NodeChooser::Score NodeChooser::binpack_score(const PodClass& pod_class, NodeIndex node, const Glance& glance) const {
  const NodeClass& node_class = problem_.class_of(node);
  const std::int64_t idle = glance.idle;
  const Amount cpu_left = glance.cpu - pod_class.request[kCpu.value()];
  const Score cpu = scaled(cpu_left, std::max<Amount>(1, node_class.capacity[kCpu.value()]), 15);
  if (pod_class.gpu.devices == 0) {
    const std::int64_t lost = std::int64_t{stranded(idle, cpu_left)} - glance.stranded;
    return capped(lost, 16) << 32 | capped(idle, 8) << 24 | cpu;
  }
  // What this pod newly strands.
  const auto newly_stranded = [&](std::int64_t opened) -> std::int64_t {
    if (rule_ != NodeRule::kKeepCpu) return 0;
    return std::max<std::int64_t>(0, std::int64_t{stranded(idle - opened, cpu_left)} - glance.stranded);
  };
  const DeviceUnits units = share_units(pod_class, node_class);
  const DeviceUnits whole = problem_.device_capacity(node);
  if (units == whole) {
    const std::int64_t wanted = pod_class.gpu.devices;
    return capped(newly_stranded(wanted), 16) << 32 | capped(idle - wanted, 16) << 16 | cpu;
  }
  // A sharer: on devices that are shared already, the tightest first; an idle one only where there is none.
  std::int64_t opened = pod_class.gpu.devices;
  DeviceUnits tightest = whole;
  for (const DeviceUnits free : state_.free_devices(node)) {
    if (free < units || free == whole) continue;
    opened = std::max<std::int64_t>(0, opened - 1);
    tightest = std::min(tightest, free - units);
  }
  return capped(newly_stranded(opened), 16) << 32 | capped(opened, 5) << 27 | (opened > 0 ? capped(idle, 7) << 20 : 0) |
         scaled(tightest, whole, 12) << 8 | cpu >> 7;
}

// What is in use, as level `fragmentation` counts it for `spread`: GPU thousandths, or cpu where the node has no
// devices.
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
  // A pod without GPUs adds nothing to a node with devices; among these it goes where the cpu is least used.
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
    if (state_.is_present(pod) && state_.place_of(pod).node == node) continue;
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

NodeIndex NodeChooser::best_of_list(PodClassIndex pod_class) {
  auto& list = lists_[pod_class];
  if (list == nullptr) {
    list = std::make_unique<List>();
    make_list(pod_class, *list);
  } else if (!update(pod_class, *list)) {
    make_list(pod_class, *list);
  }
  take_best(*list);
  return list->best.node;
}

void NodeChooser::make_list(PodClassIndex pod_class, List& list) {
  if (alike_nodes_.empty()) group_alike();
  const Glance asked = asked_by(problem_.pod_classes[pod_class]);
  list.best = {};
  list.heap.clear();
  fitting_.clear();
  for (std::uint32_t at = 0; at < alike_.size(); ++at) {
    if (is_short(alike_[at].glance, asked) || !has_untouched(alike_[at])) continue;
    const NodeIndex node = alike_nodes_[alike_[at].next];
    const Score own = score(pod_class, node, alike_[at].glance);
    if (own != kNoFit) fitting_.push_back({own, node, kOfAlike | at});
  }
  const std::vector<std::uint64_t>& open = open_[asks(problem_.pod_classes[pod_class])];
  for (std::size_t word = 0; word < open.size(); ++word) {
    for (std::uint64_t bits = open[word]; bits != 0; bits &= bits - 1) {
      const NodeIndex node(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
      const Ranked now = ranked(pod_class, asked, node);
      if (now.score != kNoFit) fitting_.push_back(now);
    }
  }
  list.rest = fitting_;
  refill(list);
  list.read = touched_read_;
}

// Looks at nodes that changed since the last time. False: there are so many that a new list costs less.
bool NodeChooser::update(PodClassIndex pod_class, List& list) {
  if (touched_read_ - list.read > alike_.size() + all_nodes_.size() / kNewListCosts) return false;
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
  return {own, node, state_.version(node) & ~kOfAlike};
}

bool NodeChooser::is_stale(const Ranked& ranked) const {
  if ((ranked.mark & kOfAlike) != 0) return touched_at_[ranked.node] > 0;
  return (state_.version(ranked.node) & ~kOfAlike) != ranked.mark;
}

void NodeChooser::put_on(List& list, const Ranked& ranked) {
  if (ranked.score == kNoFit) return;
  if (!ranked.is_before(list.first_of_rest)) {
    list.rest.push_back(ranked);
    return;
  }
  list.heap.push_back(ranked);
  std::ranges::push_heap(list.heap, Ranked::is_after);
}

// Moves the first ones of the rest into the heap, which is empty.
void NodeChooser::refill(List& list) {
  std::vector<Ranked>& rest = list.rest;
  for (std::size_t at = 0; at < rest.size();) {
    if (!is_stale(rest[at]) || become_next_alike(rest[at])) {
      ++at;
    } else {
      rest[at] = rest.back();
      rest.pop_back();
    }
  }
  const std::size_t wanted = kLeastRefill + rest.size() / kRefills;
  const std::size_t kept = rest.size() > wanted ? rest.size() - wanted : 0;
  const auto first = rest.begin() + static_cast<std::ptrdiff_t>(kept);
  if (kept > 0) std::ranges::nth_element(rest, first, Ranked::is_after);
  list.first_of_rest = kept > 0 ? *first : Ranked{};
  list.heap.assign(first, rest.end());
  rest.resize(kept);
  std::ranges::make_heap(list.heap, Ranked::is_after);
}

// Where it stood for nodes that are alike, the next of these stands for them. False: there is none.
bool NodeChooser::become_next_alike(Ranked& ranked) {
  if ((ranked.mark & kOfAlike) == 0) return false;
  Alike& alike = alike_[ranked.mark & ~kOfAlike];
  if (!has_untouched(alike)) return false;
  ranked.node = alike_nodes_[alike.next];
  return true;
}

void NodeChooser::take_best(List& list) {
  std::vector<Ranked>& heap = list.heap;
  const auto take_first = [&] {
    std::ranges::pop_heap(heap, Ranked::is_after);
    const Ranked first = heap.back();
    heap.pop_back();
    return first;
  };
  while (true) {
    if (heap.empty() && !list.rest.empty() && !list.best.is_before(list.first_of_rest)) refill(list);
    if (heap.empty() || list.best.is_before(heap.front())) return;
    Ranked first = take_first();
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
    for (auto& open : open_) open.assign((all_nodes_.size() + 63) / 64, 0);
    touched_read_ = touched.size();
  }
  for (; touched_read_ < touched.size(); ++touched_read_) {
    const NodeIndex node = touched[touched_read_];
    if (touched_read_ + 1 < touched.size() && touched[touched_read_ + 1] == node) continue;
    glances_[node] = glance_at(node);
    touched_at_[node] = touched_read_ + 1;
    const std::uint64_t bit = std::uint64_t{1} << node.value() % 64;
    for (std::size_t ask = 0; ask < kAsks; ++ask) {
      std::uint64_t& word = open_[ask][node.value() / 64];
      word = is_short(glances_[node], least_asked_[ask]) ? word & ~bit : word | bit;
    }
  }
}

std::size_t NodeChooser::asks(const PodClass& pod_class) {
  if (pod_class.gpu.devices == 0) return 0;
  return pod_class.gpu.kind == GpuRequestKind::kWhole ? 2 : 1;
}

NodeChooser::Glance NodeChooser::glance_at(NodeIndex node) const {
  const auto free = state_.free(node);
  const DeviceUnits per_millionth = problem_.device_capacity(node) / kMillion;
  DeviceUnits most = 0;
  for (const DeviceUnits units : state_.free_devices(node)) most = std::max(most, units);
  const std::int32_t idle = state_.idle_devices(node);
  return {free[kCpu.value()], free[kMemory.value()], most / per_millionth, idle, stranded(idle, free[kCpu.value()])};
}

NodeChooser::Glance NodeChooser::asked_by(const PodClass& pod_class) {
  const auto if_any = [](Amount request) { return request > 0 ? request : kNothing; };
  Glance asked{if_any(pod_class.request[kCpu.value()]), if_any(pod_class.request[kMemory.value()]), kNothing,
               std::numeric_limits<std::int32_t>::min(), 0};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) asked.idle = pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) asked.share = pod_class.gpu.share;
  return asked;
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
  for (auto& open : open_) std::ranges::fill(open, 0);
}

bool NodeChooser::has_untouched(Alike& alike) const {
  while (alike.next < alike.end && touched_at_[alike_nodes_[alike.next]] > 0) ++alike.next;
  return alike.next < alike.end;
}

}  // namespace muster
