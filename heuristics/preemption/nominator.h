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

#include "heuristics/preemption/candidate_index.h"
#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/context.h"
#include "heuristics/preemption/victims.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Room in the claimant's queue, and for its minResources: victims that leave wherever they run.
//
// If the claimant's queue (or one above it) is at its limit, some of the pods that run in it leave, the cheapest first.
// False: what the claim adds, one pod of the class at least, does not fit in the queue even so; some pods may have
// left. Cost: O(pods) for each victim.
bool free_queue(PreemptionContext& context, const Claim& claim, const PodClass& pod_class);
// The same until what the claimant's gang asks for in all is free.
bool free_min_resources(PreemptionContext& context, const Claim& claim);

class NodeNominator {
  using Nodes = CandidateIndex::Nodes;

 public:
  // The context must outlive it.
  explicit NodeNominator(PreemptionContext& context) : context_(context), state_(context.state), index_(context) {}

  // Calls place(), which uses the placer; a pod that it finds no node for is put on a node that is cleared for it.
  template <class Place>
  bool with_room(const Claim& claim, const Place& place) {
    context_.placer.exchange_clear([&](PodIndex pod, Nodes nodes) { return clear_for(claim, pod, nodes); });
    const bool placed = place();
    context_.placer.exchange_clear(nullptr);
    return placed;
  }
  // A new attempt: nothing is lost yet.
  void begin_attempt() { lost_ = {}; }
  // The cost of the victims that were evicted in the attempt, as intended.
  const VictimCost& lost() const { return lost_; }

 private:
  bool clear_for(Claim claim, PodIndex pod, Nodes nodes);
  bool clear_cheapest(const Claim& claim, PodIndex pod, Nodes nodes);
  bool clear_any(Claim claim, PodIndex pod, Nodes nodes);
  bool clear_first(const Claim& claim, PodIndex pod, const CandidateShortlist& shortlist);
  std::vector<const NodeCandidate*> in_order_with_moves(const Claim& claim, PodIndex pod,
                                                        std::vector<const NodeCandidate*> candidates);
  VictimCost cost_with_moves(const Claim& claim, PodIndex pod, const NodeCandidate& candidate);
  bool clear_promising(const Claim& claim, PodIndex pod, Nodes nodes);
  bool commit(const Claim& claim, PodIndex pod, const NodeCandidate& candidate);
  bool can_any_move() const;
  bool relocate(const Claim& claim, const VictimUnit& unit);

  PreemptionContext& context_;
  ClusterState& state_;
  CandidateIndex index_;
  VictimCost lost_;
};

}  // namespace muster::preemption
