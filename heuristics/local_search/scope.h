// What a search may change without breaking a rule that it does not check: pods that may change places, pods that may
// be dropped, pods and gangs that may be placed.
//
// It does not touch nodes that pods depart from, nor what the plan places there: so the `after` lists and the rule that
// no eviction is in vain stay valid. Nor does it touch pods with anti-affinity and running ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

class SearchScope {
 public:
  // `state`: with the plan carried out; it changes during the search, the evictions do not.
  SearchScope(const Problem& problem, const FairShares& shares, const ClusterState& state, const Plan& plan);

  const Problem& problem() const { return problem_; }
  const WholeNodes& whole_nodes() const { return whole_nodes_; }
  bool has_whole_nodes() const { return problem_.snapshot->policy.has_whole_nodes(); }
  const std::vector<NodeIndex>& open_nodes() const { return open_nodes_; }
  bool is_open(NodeIndex node) const { return open_[node] != 0; }
  // Placed by the plan and free to move, as far as the pod itself is concerned.
  bool may_move(PodIndex pod) const;
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
  Indexed<GangIndex, std::uint8_t> may_drop_, may_add_, is_bound_;
  std::size_t spare_bits_;
  Indexed<GangIndex, std::int64_t> factor_;
};

}  // namespace muster::local_search
