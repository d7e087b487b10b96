// What a search may change without breaking a rule that it does not check: pods that may change places, pods that may
// be dropped, pods and gangs that may be placed.
//
// It does not touch nodes that pods leave for good, nor what the plan places there: so the rule that no eviction is in
// vain stays valid. Nor does it touch pods with rules about other pods. Running pods change places if the policy allows
// moves; they are never dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// What a search is after.
enum class SearchAim : std::uint8_t {
  kLevels,  // whatever is better by the levels, without another move
  kMoves,   // the same; running pods change places, too
  kRoom,    // further pods: what is free comes to lie on few nodes, whatever that costs in the levels after `work`
};

// By pod, whether it runs and a search may move it; empty: none. Cost: O(pods).
using MovablePods = Indexed<PodIndex, std::uint8_t>;
MovablePods movable_pods(const preemption::EvictionRules& rules, const ClusterState& state);

struct Freedom {
  SearchAim aim = SearchAim::kLevels;
  MovablePods movable = {};
};

class SearchScope {
 public:
  // `state`: with the plan carried out; it changes during the search, what is evicted for good does not.
  SearchScope(const Problem& problem, const FairShares& shares, const ClusterState& state, const Plan& plan,
              Freedom freedom = {});

  const Problem& problem() const { return problem_; }
  SearchAim aim() const { return freedom_.aim; }
  const WholeNodes& whole_nodes() const { return whole_nodes_; }
  bool has_whole_nodes() const { return problem_.snapshot->policy.has_whole_nodes(); }
  const std::vector<NodeIndex>& open_nodes() const { return open_nodes_; }
  bool is_open(NodeIndex node) const { return open_[node] != 0; }
  // Placed by the plan, or running and allowed to move, as far as the pod itself is concerned.
  bool may_move(PodIndex pod) const;
  // Some running pod may move.
  bool has_movable() const { return !freedom_.movable.empty(); }
  // Whether the pod, which is placed on `from`, stays within the domains that its gang is bound to.
  bool keeps_domains(PodIndex pod, NodeIndex from, NodeIndex to) const;
  // Whether pods of the gang may be dropped, as long as its minimum is left (or, for a gang of one pod, no pod).
  bool may_drop(GangIndex gang) const { return may_drop_[gang] != 0; }
  // Whether pods of the gang may be placed: only capacity and filters keep them from any node.
  bool may_add(GangIndex gang) const { return may_add_[gang] != 0; }
  // Of a gang that is one leaf group: the number of pods present beyond its minimum; negative: the number missing.
  std::int32_t spare(const ClusterState& state, GangIndex gang) const;

  // The value of the pod's work in a sum of all levels up to `work`: more for a higher priority and within the share.
  // An estimate; the levels decide in the end. Uses the usage of the state last given to weigh().
  std::int64_t worth(PodIndex pod) const { return problem_.pods[pod].weighted_work * factor_[problem_.pods[pod].gang]; }
  void weigh(const ClusterState& state);

 private:
  void find_gangs(const Plan& plan);
  bool is_within_share(const ClusterState& state, const Gang& gang) const;

  const Problem& problem_;
  const FairShares& shares_;
  WholeNodes whole_nodes_;
  Indexed<NodeIndex, std::uint8_t> open_;
  std::vector<NodeIndex> open_nodes_;
  Indexed<PodClassIndex, std::uint8_t> is_free_;  // no anti-affinity
  Freedom freedom_;
  Indexed<GangIndex, std::uint8_t> may_drop_, may_add_, is_bound_;
  std::size_t spare_bits_;
  Indexed<GangIndex, std::int64_t> factor_;
};

}  // namespace muster::local_search
