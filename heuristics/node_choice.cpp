#include "heuristics/node_choice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "model/interning.h"

namespace muster {

namespace {

constexpr std::int64_t kTreeWorthPods = 4;  // below that, scanning all nodes each time is cheaper than a tree

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
      trees_(problem_.pod_classes.size()),
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
  for (Touched& list : touched_) {
    list.least_asked = {kMost, kMost, kMost, std::numeric_limits<std::int32_t>::max()};
    list.recency.resize(problem_.nodes.size());
  }
  for (const PodClassIndex pod_class : problem_.pod_classes.indices()) {
    if (!wants_tree(pod_class)) continue;
    const Glance asked = asked_by(problem_.pod_classes[pod_class]);
    Glance& least = touched_[asks(problem_.pod_classes[pod_class])].least_asked;
    least = {std::min(least.cpu, asked.cpu), std::min(least.memory, asked.memory), std::min(least.share, asked.share),
             std::min(least.idle, asked.idle)};
  }
  level_begin_.push_back(0);
  for (std::size_t size = problem_.nodes.size();; size = (size + kBranches - 1) / kBranches) {
    level_begin_.push_back(level_begin_.back() + size);
    if (size <= kBranches) break;
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
  if (!is_plain || !wants_tree(class_index)) return scan(pod, all_nodes_);
  const NodeIndex node = best_of_tree(class_index);
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
    const Score s = score(class_index, node);
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

// 16 bits of cpu stranded, 16 bits of devices left, 16 bits of cpu left; for a sharer, 12 bits of devices opened, 12 of
// the room left on the tightest device and 8 of cpu.
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
  const auto newly_stranded = [&](std::int64_t opened) -> std::int64_t {
    if (rule_ != NodeRule::kKeepCpu) return 0;
    return std::max<std::int64_t>(0, stranded(idle - opened, cpu_left) - stranded(idle, room.free[kCpu.value()]));
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
  for (const DeviceUnits free : room.devices) {
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

// --- The trees

bool NodeChooser::wants_tree(PodClassIndex pod_class) const {
  return trees_[pod_class] != nullptr || pending_[pod_class] >= kTreeWorthPods;
}

NodeIndex NodeChooser::best_of_tree(PodClassIndex pod_class) {
  auto& tree = trees_[pod_class];
  if (tree == nullptr) {
    tree = std::make_unique<Tree>();
    build(pod_class, *tree);
  } else if (is_best_again(pod_class, *tree)) {
    return tree->best;
  } else {
    update(pod_class, *tree);
  }
  find_best(*tree);
  return tree->best;
}

// Whether nothing but the node that was best has changed, which is so for most pods of a class that follow each other,
// and it has only become better.
bool NodeChooser::is_best_again(PodClassIndex pod_class, const Tree& tree) const {
  const Touched& list = touched_[asks(problem_.pod_classes[pod_class])];
  const auto is_new = [&](NodeIndex node) { return !node.is_none() && list.recency[node].touched_at > tree.read; };
  const NodeIndex latest = list.latest;
  if (is_new(latest) && (latest != tree.best || is_new(list.recency[latest].earlier))) return false;
  if (tree.best.is_none()) return true;
  if (is_short(glances_[tree.best], asked_by(problem_.pod_classes[pod_class]))) return false;
  return !is_new(latest) || score(pod_class, tree.best) <= tree.best_score;
}

// From the top, always the first branch that holds the least.
void NodeChooser::find_best(Tree& tree) const {
  std::size_t branch = 0;
  Score least = kNoFit;
  for (std::size_t level = level_begin_.size() - 1; level-- > 0;) {
    const Score* scores = tree.least.get() + level_begin_[level];
    const std::size_t size = level_begin_[level + 1] - level_begin_[level];
    const bool is_top = level + 2 == level_begin_.size();
    const std::size_t begin = is_top ? 0 : branch * kBranches, end = is_top ? size : std::min(size, begin + kBranches);
    if (is_top) least = *std::min_element(scores + begin, scores + end);
    if (least == kNoFit) break;
    branch = static_cast<std::size_t>(std::find(scores + begin, scores + end, least) - scores);
  }
  tree.best = least == kNoFit ? NodeIndex::none() : NodeIndex(branch);
  tree.best_score = least;
}

void NodeChooser::build(PodClassIndex pod_class, Tree& tree) {
  if (alike_.empty()) group_alike();
  std::fill(score_of_alike_.begin(), score_of_alike_.end(), kUnknown);
  const Glance asked = asked_by(problem_.pod_classes[pod_class]);
  tree.least = std::make_unique_for_overwrite<Score[]>(level_begin_.back());
  for (std::size_t at = 0; at < all_nodes_.size(); ++at) {
    const NodeIndex node(at);
    if (is_touched_[node]) {
      tree.least[at] = is_short(glances_[node], asked) ? kNoFit : score(pod_class, node);
    } else {
      Score& known = score_of_alike_[alike_[node]];
      if (known == kUnknown) known = score(pod_class, node);
      tree.least[at] = known;
    }
  }
  for (std::size_t level = 1; level + 1 < level_begin_.size(); ++level) {
    const std::size_t size = level_begin_[level + 1] - level_begin_[level];
    for (std::size_t at = 0; at < size; ++at) tree.least[level_begin_[level] + at] = least_below(tree, level, at);
  }
  tree.read = touched_read_;
  tree.read_filled = touched_[asks(problem_.pod_classes[pod_class])].filled.size();
}

void NodeChooser::update(PodClassIndex pod_class, Tree& tree) const {
  const Glance asked = asked_by(problem_.pod_classes[pod_class]);
  const Touched& list = touched_[asks(problem_.pod_classes[pod_class])];
  drop_filled(asked, list, tree);
  for (NodeIndex node = list.latest; !node.is_none() && list.recency[node].touched_at > tree.read;
       node = list.recency[node].earlier) {
    const Score now = is_short(glances_[node], asked) ? kNoFit : score(pod_class, node);
    if (now != tree.least[node.value()]) set_score(tree, node.value(), now);
  }
  tree.read = touched_read_;
}

// Nodes that follow each other are often of one branch: its least is looked for once.
void NodeChooser::drop_filled(const Glance& asked, const Touched& list, Tree& tree) const {
  const bool has_branches = level_begin_.size() > 2;
  NodeIndex last = NodeIndex::none();  // one whose branch has lost its least
  for (; tree.read_filled < list.filled.size(); ++tree.read_filled) {
    const NodeIndex node = list.filled[tree.read_filled];
    if (!is_short(glances_[node], asked)) continue;
    const Score before = std::exchange(tree.least[node.value()], kNoFit);
    const std::size_t branch = node.value() / kBranches;
    if (before == kNoFit || !has_branches || before != tree.least[level_begin_[1] + branch]) continue;
    if (!last.is_none() && last.value() / kBranches != branch) raise(tree, last.value() / kBranches);
    last = node;
  }
  if (!last.is_none()) raise(tree, last.value() / kBranches);
}

// The branch of the lowest level of branches has lost its least.
void NodeChooser::raise(Tree& tree, std::size_t branch) const {
  for (std::size_t level = 1; level + 1 < level_begin_.size(); ++level, branch /= kBranches) {
    const Score least = least_below(tree, level, branch);
    if (std::exchange(tree.least[level_begin_[level] + branch], least) == least) return;
  }
}

// Of the branch `at` of a level above the lowest.
NodeChooser::Score NodeChooser::least_below(const Tree& tree, std::size_t level, std::size_t at) const {
  const Score* const below = tree.least.get() + level_begin_[level - 1];
  const std::size_t first = at * kBranches, size = level_begin_[level] - level_begin_[level - 1];
  const std::size_t end = std::min(size, first + kBranches);
  Score least = kNoFit;
  for (std::size_t i = first; i < end; ++i) least = std::min(least, below[i]);
  return least;
}

void NodeChooser::set_score(Tree& tree, std::size_t at, Score score) const {
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const Score before = std::exchange(tree.least[level_begin_[level] + at], score);
    if (level + 2 == level_begin_.size()) return;
    const Score above = tree.least[level_begin_[level + 1] + at / kBranches];
    if (score > above && before > above) return;  // the branch's least is another one
    at /= kBranches;
    if (score > above) score = least_below(tree, level + 1, at);
    if (score == above) return;
  }
}

// Brings what is known of nodes at a glance up to date, and the lists of those that were touched.
void NodeChooser::read_touched() {
  const auto& touched = state_.touched();
  if (glances_.empty()) {
    for (const NodeIndex node : all_nodes_) glances_.push_back(glance_at(node));
    is_touched_.assign(all_nodes_.size(), 0);
    touched_read_ = touched.size();
  }
  for (; touched_read_ < touched.size(); ++touched_read_) {
    const NodeIndex node = touched[touched_read_];
    if (touched_read_ + 1 < touched.size() && touched[touched_read_ + 1] == node) continue;
    const Glance before = std::exchange(glances_[node], glance_at(node));
    is_touched_[node] = 1;
    for (Touched& list : touched_) touch(list, node, touched_read_ + 1, before);
  }
}

// Moves the node to the front of the list, or out of it where it is too full for all of its classes.
void NodeChooser::touch(Touched& list, NodeIndex node, std::size_t touched_at, const Glance& before) const {
  Recency& own = list.recency[node];
  const bool was_listed = own.touched_at > 0;
  own.touched_at = is_short(glances_[node], list.least_asked) ? 0 : touched_at;
  if (own.touched_at > 0 && list.latest == node) return;
  if (was_listed) {
    (own.later.is_none() ? list.latest : list.recency[own.later].earlier) = own.earlier;
    if (!own.earlier.is_none()) list.recency[own.earlier].later = own.later;
  }
  if (own.touched_at == 0) {
    if (!is_short(before, list.least_asked)) list.filled.push_back(node);
    return;
  }
  if (!list.latest.is_none()) list.recency[list.latest].later = node;
  own.earlier = list.latest;
  own.later = NodeIndex::none();
  list.latest = node;
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
  return {free[kCpu.value()], free[kMemory.value()], most / per_millionth, state_.idle_devices(node)};
}

NodeChooser::Glance NodeChooser::asked_by(const PodClass& pod_class) {
  const auto if_any = [](Amount request) { return request > 0 ? request : kNothing; };
  Glance asked{if_any(pod_class.request[kCpu.value()]), if_any(pod_class.request[kMemory.value()]), kNothing,
               std::numeric_limits<std::int32_t>::min()};
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) asked.idle = pod_class.gpu.devices;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) asked.share = pod_class.gpu.share;
  return asked;
}

bool NodeChooser::is_short(const Glance& free, const Glance& asked) {
  return asked.cpu > free.cpu || asked.memory > free.memory || asked.idle > free.idle || asked.share > free.share;
}

// Nodes of one class that nothing departs from, with equal room on equal devices.
void NodeChooser::group_alike() {
  SequenceTable rooms;
  std::vector<std::uint64_t> signature;
  for (const NodeIndex node : all_nodes_) {
    signature.assign({problem_.nodes[node].node_class.value()});
    if (has_departing(node)) signature.push_back(node.value());
    for (const Amount free : state_.free(node)) signature.push_back(static_cast<std::uint64_t>(free));
    for (const DeviceUnits free : state_.free_devices(node)) signature.push_back(static_cast<std::uint64_t>(free));
    alike_.push_back(static_cast<std::uint32_t>(rooms.intern(signature).first));
  }
  score_of_alike_.resize(rooms.size());
  std::ranges::fill(is_touched_, std::uint8_t{0});
}

}  // namespace muster
