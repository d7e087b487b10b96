// The gain of a step of the search in the levels of wholeness, on the nodes of one part.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "heuristics/local_search/scope.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// Follows the steps of one part; other parts change other nodes meanwhile, so what a gang or a domain shares with them
// is counted as of the beginning of the round.
class PartWholeness {
 public:
  struct Move {
    PodIndex pod;
    NodeIndex from, to;  // none: it was, or is then, nowhere
  };
  struct NodeChange {
    NodeIndex node;
    std::int32_t breaking_before = 0, breaking_after = 0;  // pods that keep it from being whole
  };

  // Both must outlive it.
  PartWholeness(const SearchScope& scope, const ClusterState& state)
      : scope_(scope), problem_(scope.problem()), state_(state) {}

  // In the order of the levels, more is better. Cost: O(moves, and pods of the gangs that move).
  WholenessValues gain_of(const std::vector<Move>& moves, const std::vector<NodeChange>& nodes);
  void carry_out(const std::vector<Move>& moves, const std::vector<NodeChange>& nodes);

 private:
  std::int64_t gained_domains(const std::vector<NodeChange>& nodes);
  std::int64_t& broken_in(DomainIndex domain);
  std::span<const DomainIndex> own_domains(NodeIndex node) const;  // those that the levels are counted by
  NodeIndex node_of(PodIndex pod, const std::vector<Move>* moves) const;
  GangSpread spread_of(GangIndex gang, const std::vector<Move>* moves);

  const SearchScope& scope_;
  const Problem& problem_;
  const ClusterState& state_;
  std::map<DomainIndex, std::int64_t> broken_;          // nodes that count and are not whole; once asked for
  std::map<DomainIndex, std::int64_t> changed_;         // the same since the round began
  std::unordered_map<std::uint32_t, NodeIndex> moved_;  // by pod: its new node
  std::vector<GangIndex> gangs_;
  std::vector<GangNode> gang_nodes_;
};

}  // namespace muster::local_search
