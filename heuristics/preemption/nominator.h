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

#include "heuristics/preemption/candidate_builder.h"
#include "heuristics/preemption/candidate_capacity.h"
#include "heuristics/preemption/candidate_index.h"
#include "heuristics/preemption/candidate_ranking.h"
#include "heuristics/preemption/cost.h"
#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/put_back.h"
#include "heuristics/preemption/victim_choice.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Room in the claimant's queue, and for its minResources: victims that leave wherever they run.
class QueuePreemption {
 public:
  // All must outlive it.
  QueuePreemption(const PreemptionInputs& inputs, Claim& claim, const VictimFinder& finder, EvictionLedger& ledger,
                  const PlanCheck& check)
      : problem_(inputs.problem),
        state_(inputs.state),
        bounds_(inputs.bounds),
        claim_(claim),
        finder_(finder),
        ledger_(ledger),
        check_(check) {}

  // If the claimant's queue (or one above it) is at its limit, some of the pods that run in it leave, the cheapest
  // first. False: what the claim adds, one pod of the class at least, does not fit in the queue even so; some pods may
  // have left. Cost: O(pods) for each victim.
  bool free_queue(const PodClass& pod_class);
  // The same until what the claimant's gang asks for in all is free.
  bool free_min_resources();

 private:
  struct FullQueue {
    QueueIndex queue;        // none: all have room
    ResourceIndex resource;  // whose limit it is at; none: gpu, cpu or memory
  };
  FullQueue full_queue(const PodClass& pod_class) const;

  const Problem& problem_;
  const ClusterState& state_;
  const QueueBounds& bounds_;
  Claim& claim_;
  const VictimFinder& finder_;
  EvictionLedger& ledger_;
  const PlanCheck& check_;
};

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
