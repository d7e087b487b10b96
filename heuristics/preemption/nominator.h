// Nominates a node for a pod that fits on none, and takes the victims there.
//
// Only the cheapest candidates are tried. Victims that may only be moved have to fit elsewhere. By *displacement*, a
// blocking pod that may not be evicted, or is expensive to evict, is relocated, in place of other victims whose loss is
// smaller: if nothing is free, a pod that needs a whole node finds one only where all pods may be evicted, yet most
// nodes have pods of low priority next to some that must stay. Those that must stay move to nodes where more pods of
// low priority are evicted for them, so that as much is evicted as the claim needs, and of the lowest priority. One
// step deep: other pods are evicted for a displaced pod, but no further pods are displaced.
#pragma once

#include <span>
#include <vector>

#include "heuristics/preemption/candidates/builder.h"
#include "heuristics/preemption/candidates/candidate.h"
#include "heuristics/preemption/candidates/capacity.h"
#include "heuristics/preemption/candidates/index.h"
#include "heuristics/preemption/candidates/ranking.h"
#include "heuristics/preemption/candidates/shortlist.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/queue_preemption.h"
#include "heuristics/preemption/stop_flag.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/cost.h"
#include "heuristics/preemption/victims/eligibility.h"
#include "heuristics/preemption/victims/eviction_ledger.h"
#include "heuristics/preemption/victims/finder.h"
#include "heuristics/preemption/victims/least_losses.h"
#include "heuristics/preemption/victims/placement_ranks.h"
#include "heuristics/preemption/victims/plan_check.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class NodeNominator {
 public:
  // All must outlive it.
  NodeNominator(const PreemptionInputs& inputs, Claim& claim, const PlacementRanks& ranks,
                VictimEligibility& eligibility, EvictionLedger& ledger, const PlanCheck& check, StopFlag& stop);

  // A new attempt: nothing is lost yet, and no gang is protected.
  void begin_attempt();
  // Calls place(), which uses the placer; a pod that it finds no node for is put on a node that is cleared for it.
  template <class Place>
  bool with_room(const Place& place) {
    in_.placer.exchange_clear([this](PodIndex pod, std::span<const NodeIndex> nodes) { return clear_for(pod, nodes); });
    const bool placed = place();
    in_.placer.exchange_clear(nullptr);
    return placed;
  }
  // Victims leave until the claimant's minResources are free.
  bool free_min_resources() { return queue_.free_min_resources(); }
  // The cost of the victims that were evicted in the attempt, as intended.
  const VictimCost& lost() const { return lost_; }

 private:
  bool clear_for(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_cheapest(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_any(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_first(PodIndex pod, const std::vector<const NodeCandidate*>& candidates);
  std::vector<const NodeCandidate*> in_order_with_moves(PodIndex pod, std::vector<const NodeCandidate*> candidates);
  VictimCost cost_with_moves(PodIndex pod, const NodeCandidate& candidate);
  bool commit(PodIndex pod, const NodeCandidate& candidate);
  bool can_any_move() const;
  bool relocate(const VictimUnit& unit);
  bool clear_by_swap(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_displacing(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_for_displaced(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_promising(PodIndex pod, std::span<const NodeIndex> nodes);

  const PreemptionInputs& in_;
  ClusterState& state_;
  Claim& claim_;
  const PlacementRanks& ranks_;
  EvictionLedger& ledger_;
  StopFlag& stop_;
  LeastLosses losses_;
  VictimFinder finder_;
  ClearableCapacity capacity_;
  CandidateOrder ranking_;
  CandidateBuilder builder_;
  CandidateIndex index_;
  QueuePreemption queue_;
  VictimCost lost_;
};

}  // namespace muster::preemption
