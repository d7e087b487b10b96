// What a search may touch without breaking a rule that it does not look at: pods that may change places, pods that may
// be dropped, pods and gangs that may be put down.
//
// Left alone are nodes that something departs from, with all that the plan puts there: who waits for whom, and that no
// eviction is in vain, stays true. So are pods with anti-affinity and running ones.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/problem.h"
#include "model/wholeness.h"

namespace muster {

class SearchScope {
 public:
  // `state`: with the plan carried out; it changes while the search goes on, the evictions do not.
  SearchScope(const Problem& problem, const FairShares& shares, const ClusterState& state, const Plan& plan);

  const Problem& problem() const { return problem_; }
  const WholeNodes& whole_nodes() const { return whole_nodes_; }
  bool has_whole_nodes() const { return problem_.snapshot->policy.has_whole_nodes(); }
  const std::vector<NodeIndex>& open_nodes() const { return open_nodes_; }
  bool is_open(NodeIndex node) const { return open_[node] != 0; }
  // Placed by the plan and free to go elsewhere, as far as the pod itself is concerned.
  bool may_move(PodIndex pod) const;
  // Whether the pod, which is placed on `from`, stays within the domains that its gang is bound to.
  bool keeps_domains(PodIndex pod, NodeIndex from, NodeIndex to) const;
  // Whether pods of the gang may be dropped, as long as its minimum is left (or, of a gang of one pod, nothing of it).
  bool may_drop(GangIndex gang) const { return may_drop_[gang] != 0; }
  // Whether pods of the gang may be put down: nothing keeps them from any node but room and filters.
  bool may_add(GangIndex gang) const { return may_add_[gang] != 0; }
  // Of a gang that is one leaf group: how many pods are present beyond its minimum; negative: so many are missing.
  std::int32_t spare(const ClusterState& state, GangIndex gang) const;

  // What the pod's work counts in a sum of all levels up to `work`: more for a higher priority and within the share.
  // An estimate; the levels have the last word. As the usage of the state last given to weigh().
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
  Indexed<GangIndex, std::int64_t> factor_;
};

}  // namespace muster
