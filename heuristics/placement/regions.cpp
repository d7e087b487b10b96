#include "heuristics/placement/regions.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace muster::placement {

Regions::Regions(const Problem& problem) : problem_(problem), by_level_(problem.topology.levels.size()) {
  for (const DomainIndex domain : problem_.topology.domains.indices())
    by_level_[problem_.topology.domains[domain].level].push_back(domain);
}

std::span<const NodeIndex> Regions::nodes_of(DomainIndex region) const {
  if (region.is_none()) return {};
  if (is_domain(region)) return problem_.topology.domains[region].nodes;
  return crossings_[region.value() - problem_.topology.domains.size()];
}

bool Regions::holds(DomainIndex region, NodeIndex node) const {
  if (region.is_none()) return true;
  if (!is_domain(region)) return std::ranges::binary_search(nodes_of(region), node);
  return problem_.nodes[node].domains[problem_.topology.domains[region].level.value()] == region;
}

std::optional<DomainIndex> Regions::common(DomainIndex a, DomainIndex b) {
  if (a.is_none() || a == b) return b;
  if (b.is_none()) return a;
  if (is_domain(a) && is_domain(b)) {
    const Topology& topology = problem_.topology;
    const TopologyLevelIndex level_a = topology.domains[a].level, level_b = topology.domains[b].level;
    if (topology.covers(level_a, level_b)) return holds(a, nodes_of(b).front()) ? std::optional(b) : std::nullopt;
    if (topology.covers(level_b, level_a)) return holds(b, nodes_of(a).front()) ? std::optional(a) : std::nullopt;
  }
  const auto [known, is_new] = known_.try_emplace(std::minmax(a, b));
  if (is_new) known->second = cross(a, b);
  return known->second;
}

std::optional<DomainIndex> Regions::cross(DomainIndex a, DomainIndex b) {
  std::vector<NodeIndex> nodes;
  std::ranges::set_intersection(nodes_of(a), nodes_of(b), std::back_inserter(nodes));
  if (nodes.empty()) return std::nullopt;
  if (nodes.size() == nodes_of(a).size()) return a;
  if (nodes.size() == nodes_of(b).size()) return b;
  crossings_.push_back(std::move(nodes));
  return DomainIndex(problem_.topology.domains.size() + crossings_.size() - 1);
}

ImmediateCapacity::ImmediateCapacity(const ClusterState& state)
    : problem_(state.problem()), state_(state), has_releasing_(problem_.nodes.size(), 0) {
  const auto for_each = [&](const auto& visit) {
    for (const PodIndex pod : problem_.pods.indices()) {
      const Pod& p = problem_.pods[pod];
      if (p.node.is_none() || (p.status != PodStatus::kRunning && p.status != PodStatus::kReleasing)) continue;
      visit(pod, p);
    }
  };
  occupants_begin_.assign(problem_.nodes.size() + 1, 0);
  for_each([&](PodIndex, const Pod& pod) {
    ++occupants_begin_[pod.node.value() + 1];
    if (pod.status == PodStatus::kReleasing) has_releasing_[pod.node] = 1;
  });
  std::partial_sum(occupants_begin_.begin(), occupants_begin_.end(), occupants_begin_.begin());
  occupants_.resize(occupants_begin_.back());
  std::vector<std::uint32_t> next(occupants_begin_.begin(), occupants_begin_.end() - 1);
  for_each([&](PodIndex index, const Pod& pod) { occupants_[next[pod.node.value()]++] = index; });
}

Room ImmediateCapacity::of(NodeIndex node) const {
  if (known_.empty()) known_.resize(problem_.nodes.size());
  Known& known = known_[node];
  if (known.version == state_.version(node) + 1) return {known.free, known.devices};
  known.version = state_.version(node) + 1;
  const auto free = state_.free(node);
  const auto devices = state_.free_devices(node);
  known.free.assign(free.begin(), free.end());
  known.devices.assign(devices.begin(), devices.end());
  for (const PodIndex pod : occupants(node)) {
    if (state_.is_present(pod) && state_.node_of(pod) == node) continue;
    const PodClass& pod_class = problem_.class_of(pod);
    for (std::size_t r = 0; r < known.free.size(); ++r) known.free[r] -= pod_class.request[r];
    const auto held = problem_.devices_of(pod);
    if (held.empty()) continue;
    const DeviceUnits units = share_units(pod_class, problem_.class_of(node));
    for (const std::int32_t device : held) known.devices[static_cast<std::size_t>(device)] -= units;
  }
  return {known.free, known.devices};
}

bool ImmediateCapacity::fits(const PodClass& pod_class, NodeIndex node) const {
  const Room room = of(node);
  return fit::capacity(room, pod_class) && fit::devices(room, problem_, pod_class, node);
}

}  // namespace muster::placement
