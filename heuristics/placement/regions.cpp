#include "heuristics/placement/regions.h"

#include <algorithm>
#include <iterator>
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

}  // namespace muster::placement
