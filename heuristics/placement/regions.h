// Where the pods of a group may go: domains of topology levels, and what domains of crossing topologies have in common.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
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

// The room of a node that is free immediately. A departing pod, which the snapshot has on the node and the state no
// longer, holds its room until it has stopped.
//
// Follows the state. One a thread.
class ImmediateCapacity {
 public:
  // The state must outlive it, and must not be replaced by another one. Cost: O(nodes + pods).
  explicit ImmediateCapacity(const ClusterState& state);

  // Whether the snapshot has a pod on the node that is releasing, or that the state no longer has there. If not, what
  // is free in the state is free immediately.
  bool has_departing(NodeIndex node) const { return has_releasing_[node] != 0 || state_.nodes().departed(node) > 0; }
  // Valid until the state changes. Cost: O(1) if the node has not changed since the last call for it, else O(resources
  // + devices + pods that the snapshot has on the node).
  Room of(NodeIndex node) const;
  // Whether a pod of the class fits into the immediate room. Cost: as `of`.
  bool fits(const PodClass& pod_class, NodeIndex node) const;

 private:
  struct Known {
    std::uint32_t version = 0;  // of the node, plus one; 0: not known
    std::vector<Amount> free;
    std::vector<DeviceUnits> devices;
  };
  std::span<const PodIndex> occupants(NodeIndex node) const {
    const std::uint32_t begin = occupants_begin_[node.value()];
    return std::span(occupants_).subspan(begin, occupants_begin_[node.value() + 1] - begin);
  }

  const Problem& problem_;
  const ClusterState& state_;
  // Pods that the snapshot has on node n, releasing ones too: `occupants_[occupants_begin_[n] .. [n + 1]]`, ascending.
  std::vector<std::uint32_t> occupants_begin_;
  std::vector<PodIndex> occupants_;
  Indexed<NodeIndex, std::uint8_t> has_releasing_;
  mutable Indexed<NodeIndex, Known> known_;  // none before the first call
};

}  // namespace muster::placement
