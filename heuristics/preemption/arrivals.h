// Who claims the room that moved pods leave: what arrived on their nodes, in turn.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// As rule Not in vain counts them (docs/semantics.md): a pod that waited is placed for its own gang; one that is moved,
// for those that were put on the node that it left, in the end; if there are none, for the gang that its move names.
class Arrivals {
 public:
  using Counts = std::function<bool(GangIndex)>;

  // Follows the state and the ledger, which must outlive it.
  Arrivals(const ClusterState& state, const EvictionLedger& ledger)
      : problem_(state.problem()), state_(state), ledger_(ledger) {}

  // The pods that were moved, with the gang that each move names.
  void set_moves(std::vector<std::pair<PodIndex, GangIndex>> moves);
  const std::vector<std::pair<PodIndex, GangIndex>>& moves() const { return moves_; }  // by pod, ascending

  bool is_arrival(PodIndex pod) const;
  // Whether any gang counts that the arrived pod is placed for; ends with the first. Cost: O(nodes x log + pods) of the
  // nodes from which moves led there.
  bool any_claimant(PodIndex arrival, const Counts& counts) const;
  // The pods that are moved away for no gang that counts, ascending. Cost: O(nodes + moves + pods on the nodes that
  // these left), once for all.
  std::vector<PodIndex> moved_for_none(const Counts& counts) const;

 private:
  using MovedFrom = std::map<NodeIndex, std::vector<PodIndex>>;
  bool is_away(PodIndex moved) const { return state_.is_present(moved) && !is_home(state_, moved); }
  void mark(NodeIndex node, const MovedFrom& from, Indexed<NodeIndex, std::uint8_t>& is_marked) const;

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionLedger& ledger_;
  std::vector<std::pair<PodIndex, GangIndex>> moves_;
};

}  // namespace muster::preemption
