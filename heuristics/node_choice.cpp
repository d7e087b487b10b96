#include "heuristics/node_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace muster {

namespace {

constexpr std::int64_t kTreeWorthPods = 4;  // below that, scanning all nodes each time is cheaper than a tree

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
      leaves_(std::bit_ceil(std::max<std::size_t>(1, problem_.nodes.size()))),
      pending_(problem_.pod_classes.size(), 0),
      trees_(problem_.pod_classes.size()),
      occupants_(problem_.nodes.size()),
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
    if (!p.node.is_none() && (p.status == PodStatus::kRunning || p.status == PodStatus::kReleasing)) {
      occupants_[p.node].push_back(pod);
      if (p.status == PodStatus::kReleasing) has_releasing_[p.node] = 1;
    }
  }
  if (devices > 0) typical_cpu_per_gpu_ = cpu / devices;
  for (const NodeIndex node : problem_.nodes.indices()) all_nodes_.push_back(node);
}

NodeIndex NodeChooser::choose(PodIndex pod, std::span<const NodeIndex> among) {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  const PodClass& pod_class = problem_.pod_classes[class_index];
  // What anti-affinity and a queue's bounds allow changes without the node's room changing: such pods look everywhere.
  const bool is_plain = pod_class.anti_affinity_owned.empty() && pod_class.anti_affinity_matched.empty() &&
                        pod_class.gpu.kind != GpuRequestKind::kMemory;
  if (!among.empty()) return scan(pod, among);
  if (!is_plain || !wants_tree(class_index)) return scan(pod, all_nodes_);
  const NodeIndex node = best_of_tree(class_index);
  // Elsewhere a plain pod adds the same to its queue, so where the queue's bounds refuse one node they refuse all.
  return !node.is_none() && can_place(state_, bounds_, pod, node) ? node : NodeIndex::none();
}

NodeIndex NodeChooser::scan(PodIndex pod, std::span<const NodeIndex> among) const {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  NodeIndex best = NodeIndex::none();
  Score best_score = kNoFit;
  for (const NodeIndex node : among) {
    const Score s = score(class_index, node);
    if (s < best_score && can_place(state_, bounds_, pod, node)) {
      best_score = s;
      best = node;
    }
  }
  return best;
}

std::vector<std::int32_t> NodeChooser::devices_for(PodIndex pod, NodeIndex node) const {
  const PodClass& pod_class = problem_.class_of(pod);
  if (has_departing(node)) {
    if (auto devices = choose_devices(held_room(node), problem_, pod_class, node)) return *std::move(devices);
  }
  auto devices = choose_devices(room_of(state_, node), problem_, pod_class, node);
  return devices ? *std::move(devices) : std::vector<std::int32_t>{};
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
NodeChooser::Score NodeChooser::score(PodClassIndex class_index, NodeIndex node) const {
  const PodClass& pod_class = problem_.pod_classes[class_index];
  if (!fit::node(problem_, pod_class, node)) return kNoFit;
  const Room room = room_of(state_, node);
  if (!fit::capacity(room, pod_class) || !fit::devices(room, problem_, pod_class, node)) return kNoFit;
  const std::size_t node_class = problem_.nodes[node].node_class.value();
  const std::int64_t dislike = 100 * std::int64_t{pod_class.untolerated_soft_taints[node_class]} -
                               std::int64_t{pod_class.preferred_weight[node_class]};
  const Score waits = has_departing(node) && !fits_at_once(pod_class, node) ? 1 : 0;
  const Score own = rule_ == NodeRule::kSpread ? spread_score(pod_class, node) : binpack_score(pod_class, node, room);
  return waits << 63 | capped(dislike + (1 << 14), 15) << 48 | own;
}

// 16 bits of devices, 16 bits of the room left on the tightest device, 15 bits of cpu left.
NodeChooser::Score NodeChooser::binpack_score(const PodClass& pod_class, NodeIndex node, const Room& room) const {
  const NodeClass& node_class = problem_.class_of(node);
  const std::int64_t idle = state_.idle_devices(node);
  const Amount cpu_left = room.free[kCpu.value()] - pod_class.request[kCpu.value()];
  const Score cpu = scaled(cpu_left, std::max<Amount>(1, node_class.capacity[kCpu.value()]), 15);
  // GPUs beside which no cpu would be left for what typically comes, in thousandths: what this pod newly strands.
  const auto stranded = [&](std::int64_t idle_devices, Amount free_cpu) -> std::int64_t {
    if (typical_cpu_per_gpu_ <= 0) return 0;
    return std::max<std::int64_t>(0, 1000 * idle_devices - 1000 * std::max<Amount>(0, free_cpu) / typical_cpu_per_gpu_);
  };
  if (pod_class.gpu.devices == 0) {
    const std::int64_t lost = stranded(idle, cpu_left) - stranded(idle, room.free[kCpu.value()]);
    return capped(lost, 16) << 32 | capped(idle, 8) << 24 | cpu;
  }
  const DeviceUnits units = share_units(pod_class, node_class);
  const DeviceUnits whole = problem_.device_capacity(node);
  if (units == whole) {
    const std::int64_t left = idle - pod_class.gpu.devices;
    if (rule_ == NodeRule::kKeepCpu) {
      const std::int64_t lost =
          std::max<std::int64_t>(0, stranded(left, cpu_left) - stranded(idle, room.free[kCpu.value()]));
      return capped(lost, 16) << 32 | capped(left, 8) << 24 | cpu;
    }
    return capped(left, 16) << 32 | cpu;
  }
  // A sharer: on devices that are shared already, the tightest first; an idle one only where there is none.
  std::int64_t opened = pod_class.gpu.devices;
  DeviceUnits tightest = whole;
  for (const DeviceUnits free : room.devices) {
    if (free < units || free == whole) continue;
    opened = std::max<std::int64_t>(0, opened - 1);
    tightest = std::min(tightest, free - units);
  }
  return capped(opened, 8) << 40 | (opened > 0 ? capped(idle, 8) << 32 : 0) | scaled(tightest, whole, 16) << 16 | cpu;
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
  for (const PodIndex pod : occupants_[node]) {
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

// --- The tournament tree

bool NodeChooser::wants_tree(PodClassIndex pod_class) const {
  return trees_[pod_class] != nullptr || pending_[pod_class] >= kTreeWorthPods;
}

NodeIndex NodeChooser::best_of_tree(PodClassIndex pod_class) {
  auto& tree = trees_[pod_class];
  if (tree == nullptr) {
    tree = std::make_unique<Tree>();
    build(pod_class, *tree);
  } else {
    update(pod_class, *tree);
  }
  const std::uint32_t winner = tree->winners[1];
  return tree->scores[winner] == kNoFit ? NodeIndex::none() : NodeIndex(winner);
}

void NodeChooser::build(PodClassIndex pod_class, Tree& tree) const {
  tree.scores.assign(leaves_, kNoFit);
  tree.winners.resize(2 * leaves_);
  for (const NodeIndex node : all_nodes_) tree.scores[node.value()] = score(pod_class, node);
  for (std::size_t leaf = 0; leaf < leaves_; ++leaf) tree.winners[leaves_ + leaf] = static_cast<std::uint32_t>(leaf);
  for (std::size_t at = leaves_; at-- > 1;) {
    const std::uint32_t left = tree.winners[2 * at], right = tree.winners[2 * at + 1];
    tree.winners[at] = tree.scores[right] < tree.scores[left] ? right : left;
  }
  tree.read = state_.touched().size();
}

void NodeChooser::update(PodClassIndex pod_class, Tree& tree) const {
  const auto& touched = state_.touched();
  if (touched.size() - tree.read > problem_.nodes.size()) return build(pod_class, tree);
  for (; tree.read < touched.size(); ++tree.read) {
    const NodeIndex node = touched[tree.read];
    if (tree.read + 1 < touched.size() && touched[tree.read + 1] == node) continue;
    const Score now = score(pod_class, node);
    if (now == tree.scores[node.value()]) continue;
    tree.scores[node.value()] = now;
    replay(tree, node.value());
  }
}

// Plays the matches of one leaf again, up to the root.
void NodeChooser::replay(Tree& tree, std::uint32_t node) const {
  for (std::size_t at = (leaves_ + node) / 2; at >= 1; at /= 2) {
    const std::uint32_t left = tree.winners[2 * at], right = tree.winners[2 * at + 1];
    const std::uint32_t winner = tree.scores[right] < tree.scores[left] ? right : left;
    if (winner == tree.winners[at] && winner != node) break;
    tree.winners[at] = winner;
  }
}

}  // namespace muster
