// The candidates of all nodes for a pod, kept up to date from one pod to the next equivalent one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/preemption/candidates/builder.h"
#include "heuristics/preemption/candidates/cache.h"
#include "heuristics/preemption/candidates/candidate.h"
#include "heuristics/preemption/candidates/capacity.h"
#include "heuristics/preemption/candidates/ranking.h"
#include "heuristics/preemption/candidates/shortlist.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/stop_flag.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eligibility.h"
#include "heuristics/preemption/victims/placement_ranks.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Each scan adds candidates to the shortlist, until the stop flag is raised. Candidates on a list are valid until the
// next scan with the same index.
class CandidateIndex {
 public:
  // All must outlive it.
  CandidateIndex(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                 const VictimEligibility& eligibility, CandidateBuilder& builder, ClearableCapacity& capacity,
                 CandidateOrder& ranking, StopFlag& stop);

  // All of the nodes (empty: of the cluster) that can be cleared. Cost: O(nodes), and that of the builder for those
  // that have changed since the last scan for an equivalent pod.
  void scan(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // The cheapest candidate of each kind, where no victim can be moved. Cost: O(kinds + nodes changed) if the last scan
  // was for an equivalent pod and `nodes` is empty; else that of scan.
  void scan_cheapest(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // Of the nodes that can be cleared only the most promising, by the least losses as last found. Requires that the
  // claim evicts.
  void scan_promising(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // The nodes that moves alone can clear, except those where more has to be moved than on the shortlist. Requires that
  // no anti-affinity, affinity or spread concerns the pod.
  void scan_by_moves(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // The same, where pods of the plan may give way, too.
  void scan_by_moves_and_swaps(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);

  // The node has been put back as it was when its candidate was found.
  void refresh(NodeIndex node) { cache_.refresh(state_, node); }

 private:
  bool may_keep(PodIndex pod) const;
  CandidateKey key_of(PodIndex pod) const;
  VictimKind kind_of(const NodeCandidate& candidate) const;
  const NodeCandidate* known(PodIndex pod, NodeIndex node);
  void scan_listed(PodIndex pod, CandidateShortlist& shortlist);
  std::vector<NodeIndex> unlisted(bool is_new);
  void list(PodIndex pod, NodeIndex node);
  const NodeCandidate* cheapest_of(std::size_t kind, PodIndex pod);
  template <class Visit>
  void for_each_by_least_moved(PodIndex pod, std::span<const NodeIndex> nodes, const CandidateShortlist& shortlist,
                               bool swaps, const Visit& visit);

  const Problem& problem_;
  const ClusterState& state_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  const VictimEligibility& eligibility_;
  CandidateBuilder& builder_;
  ClearableCapacity& capacity_;
  CandidateOrder& ranking_;
  StopFlag& stop_;
  CandidateCache<NodeCandidate> cache_;
  CheapestFirst<VictimCost> cheapest_;  // of one key of the cache
  std::vector<NodeIndex> not_listed_;   // nodes outside that list that may nevertheless take the pod
  std::uint64_t cheapest_keys_ = 0;     // of the cache, as they were listed
  std::size_t cheapest_read_ = 0;       // of the state's touched nodes
};

}  // namespace muster::preemption
