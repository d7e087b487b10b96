// Where the pods of a group may go: domains of topology levels, and what domains of crossing topologies have in common.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/problem/problem.h"

namespace muster::placement {

// A region is a domain of the problem, or a set of nodes that lie in several domains of different topologies: these get
// numbers beyond those of the domains once they are asked for. None: anywhere.
class Regions {
 public:
  explicit Regions(const Problem& problem);

  // Ascending.
  const std::vector<DomainIndex>& domains_of(TopologyLevelIndex level) const { return by_level_[level]; }
  // Ascending; empty: all nodes. Holds as long as the object.
  std::span<const NodeIndex> nodes_of(DomainIndex region) const;
  bool holds(DomainIndex region, NodeIndex node) const;
  // The nodes that lie in both; no value: there is none. Cost: O(1) for domains of one topology, else O(nodes of both)
  // for the first time.
  std::optional<DomainIndex> common(DomainIndex a, DomainIndex b);

 private:
  bool is_domain(DomainIndex region) const { return region.value() < problem_.topology.domains.size(); }
  std::optional<DomainIndex> cross(DomainIndex a, DomainIndex b);

  const Problem& problem_;
  Indexed<TopologyLevelIndex, std::vector<DomainIndex>> by_level_;
  std::vector<std::vector<NodeIndex>> crossings_;  // of the regions that are no domains
  std::map<std::pair<DomainIndex, DomainIndex>, std::optional<DomainIndex>> known_;
};

}  // namespace muster::placement
