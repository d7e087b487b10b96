#include "cli/agent/planning/spare_capacity.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "heuristics/state/cluster_state.h"

namespace muster::cli {

namespace {

constexpr double kMilli = 1000, kGib = 1024.0 * 1024 * 1024;
// Of pods, for the bids: the cost of a solve grows with them.
constexpr std::size_t kMostClasses = 64;
// Nodes that are looked at for a pod of a class that is not expected: each costs a fraction of a microsecond.
constexpr std::size_t kMostNew = 1000;

// Which nodes are free for others, and what the plan leaves on them.
struct Left {
  ClusterState state;
  std::vector<bool> is_open;  // by node
};

Left left_by(const Problem& problem, const Plan& plan) {
  Left left{ClusterState(problem, ClusterState::Releasing::kHeld), std::vector<bool>(problem.nodes.size(), true)};
  const auto close = [&](NodeIndex node) { left.is_open[node.value()] = false; };
  std::vector<bool> leaves(problem.pods.size());
  for (const Eviction& eviction : plan.evictions) {
    leaves[eviction.pod.value()] = true;
    close(problem.pods[eviction.pod].node);
  }
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status == PodStatus::kReleasing && !problem.pods[pod].node.is_none())
      close(problem.pods[pod].node);
  }
  for (const Placement& placement : plan.placements) {
    if (!placement.after.empty() || leaves[placement.pod.value()]) {
      close(placement.node);
      continue;
    }
    left.state.put(placement.pod, placement.node, placement.devices);
  }
  for (const NodeIndex node : problem.nodes.indices()) {
    const NodeClass& kind = problem.class_of(node);
    const bool is_usable = !kind.cordoned && !kind.devices_closed && kind.held_for.is_none() &&
                           static_cast<std::size_t>(kind.device_count) <= policies::kMostOnlineDevices;
    if (!is_usable) close(node);
  }
  return left;
}

policies::OnlineType type_of(const NodeClass& kind) {
  return {static_cast<double>(kind.capacity[kCpu.value()]) / kMilli,
          static_cast<double>(kind.capacity[kMemory.value()]) / kGib, kind.device_count};
}

policies::OnlineClass class_of(std::span<const ResourceAmount> resources, const GpuRequest& gpu) {
  policies::OnlineClass pod;
  for (const ResourceAmount& resource : resources) {
    if (resource.resource == kCpu) pod.cpu = static_cast<double>(resource.amount) / kMilli;
    if (resource.resource == kMemory) pod.memory = static_cast<double>(resource.amount) / kGib;
  }
  pod.devices = gpu.devices;
  pod.level = gpu.devices > 0 ? policies::kDeviceLevels : 0;
  pod.accepts = ~std::uint64_t{0};  // the request names the nodes that suit
  return pod;
}

// What is taken of a node, in whole hundredths of its devices.
online::OnlineUse use_of(const Problem& problem, const ClusterState& state, NodeIndex node) {
  const NodeClass& kind = problem.class_of(node);
  const auto taken = [&](ResourceIndex resource) {
    const Amount all = kind.capacity[resource.value()];
    return static_cast<double>(std::clamp<Amount>(all - state.free(node)[resource.value()], 0, all));
  };
  online::OnlineUse use{taken(kCpu) / kMilli, taken(kMemory) / kGib, {}};
  for (const DeviceUnits free : state.free_devices(node)) {
    const DeviceUnits level = std::max<DeviceUnits>(free, 0) * policies::kDeviceLevels / kind.device_capacity();
    use.levels.push_back(static_cast<std::uint8_t>(policies::kDeviceLevels - level));
  }
  return use;
}

// The most frequent classes of the cluster's pods, as often as they are met among a few hundred.
std::vector<policies::OnlineClass> expected(const Problem& problem) {
  std::vector<std::pair<std::size_t, PodClassIndex>> counts;
  for (const PodClassIndex kind : problem.pod_classes.indices()) counts.emplace_back(0, kind);
  std::size_t all = 0;
  for (const PodIndex pod : problem.pods.indices()) {
    const PodStatus status = problem.pods[pod].status;
    if (status == PodStatus::kSucceeded || status == PodStatus::kFailed) continue;
    ++counts[problem.pods[pod].pod_class.value()].first;
    ++all;
  }
  std::ranges::stable_sort(counts, std::greater{}, [](const auto& entry) { return entry.first; });
  if (counts.size() > kMostClasses) counts.resize(kMostClasses);
  std::vector<policies::OnlineClass> pods;
  for (const auto& [count, kind] : counts) {
    const PodSpec& spec = problem.snapshot->pod_specs[problem.pod_classes[kind].spec];
    if (count == 0 || !SpareCapacity::obstacle(spec).empty()) continue;
    pods.insert(pods.end(), 1 + count * 4 * kMostClasses / all, class_of(spec.resources, spec.gpu));
  }
  return pods;
}

bool has_bounds(const Queue& queue) {
  const auto is_set = [](Amount amount) { return amount != kUnlimited; };
  return !queue.other_limits.empty() || std::ranges::any_of(queue.quota, is_set) ||
         std::ranges::any_of(queue.limit, is_set);
}

}  // namespace

SpareCapacity::SpareCapacity(const Problem& problem, const Plan& plan) {
  const Left left = left_by(problem, plan);
  std::vector<policies::OnlineType> types;
  std::vector<std::size_t> type_of_node;
  std::vector<NodeIndex> nodes;
  std::map<std::array<Amount, 3>, std::size_t> known;
  for (const NodeIndex node : problem.nodes.indices()) {
    if (!left.is_open[node.value()]) continue;
    const NodeClass& kind = problem.class_of(node);
    const std::array<Amount, 3> key{kind.capacity[kCpu.value()], kind.capacity[kMemory.value()], kind.device_count};
    if (known.size() == policies::kMostOnlineTypes && !known.contains(key)) continue;
    const auto [at, is_new] = known.emplace(key, types.size());
    if (is_new) types.push_back(type_of(kind));
    type_of_node.push_back(at->second);
    names_.emplace_back(problem.snapshot->nodes[node.value()].name);
    node_of_name_.emplace(names_.back(), nodes.size());
    nodes.push_back(node);
  }
  for (const Queue& queue : problem.queues) {
    const bool is_bound =
        std::ranges::any_of(queue.ancestors, [&](QueueIndex ancestor) { return has_bounds(problem.queues[ancestor]); });
    if (!is_bound) queues_.emplace(queue.name);
  }
  if (nodes.empty()) return;
  placer_ = std::make_unique<online::OnlinePlacer>(types, type_of_node);
  for (std::size_t i = 0; i < nodes.size(); ++i) placer_->occupy(i, use_of(problem, left.state, nodes[i]));
  next_.assign(nodes.size(), 0);
  known_ = expected(problem);
  placer_->expect(known_);
}

// kube-scheduler names its nodes in much the same order each time.
std::optional<std::size_t> SpareCapacity::node_of(std::string_view name) {
  const std::size_t guess = next_[last_];
  if (names_[guess] != name) {
    const auto found = node_of_name_.find(std::string(name));
    if (found == node_of_name_.end()) return std::nullopt;
    next_[last_] = found->second;
  }
  last_ = next_[last_];
  return last_;
}

std::string_view SpareCapacity::obstacle(const PodSpec& pod) {
  if (pod.gpu.kind != GpuRequestKind::kNone && pod.gpu.kind != GpuRequestKind::kWhole) return "it shares a device";
  return pod.gpu_models.empty() ? "" : "it asks for models of devices";
}

std::optional<std::size_t> SpareCapacity::place(const PodSpec& pod, std::span<const std::string_view> nodes) {
  if (!placer_) return std::nullopt;
  std::vector<std::size_t> candidates, positions;
  candidates.reserve(nodes.size());
  positions.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto node = node_of(nodes[i]);
    if (!node) continue;
    candidates.push_back(*node);
    positions.push_back(i);
  }
  const policies::OnlineClass asked = class_of(pod.resources, pod.gpu);
  std::optional<online::OnlinePlace> place;
  if (candidates.size() > kMostNew && std::ranges::find(known_, asked) == known_.end()) {
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < kMostNew; ++i) some.push_back(candidates[i * candidates.size() / kMostNew]);
    place = placer_->place_among(asked, some);
  }
  if (!place) place = placer_->place_among(asked, candidates);
  if (!place) return std::nullopt;
  return positions[static_cast<std::size_t>(std::ranges::find(candidates, place->node) - candidates.begin())];
}

}  // namespace muster::cli
