// The victims of one node: the cheapest that may leave so that a pod fits there.
//
// Victims leave, the cheapest first, until the pod fits; then those that turn out not to be in the way are reprieved,
// the last one first. This is the method of kube-scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/preemption/candidate_capacity.h"
#include "heuristics/preemption/cost.h"
#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victim_choice.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// A node that can take a pod once some victims have left it.
struct NodeCandidate {
  VictimCost cost;  // of all victims
  NodeIndex node;
  std::vector<VictimUnit> victims;
};

// Whether disruption budgets allow that all of the candidate's victims leave in the current state. Cost: O(pods x
// budgets of each).
bool budgets_allow(const ClusterState& state, const NodeCandidate& candidate);
// Whether any pod on the node counts in a budget that allows some evictions, but not all.
bool has_budgets(const ClusterState& state, NodeIndex node);

class CandidateBuilder {
 public:
  // All must outlive it.
  CandidateBuilder(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                   const VictimEligibility& eligibility, VictimFinder& finder, ClearableCapacity& capacity);

  // The node with the cheapest victims whose departure makes the pod fit; none: the search finds no victims. The state
  // is as before; nodes that were tried count as touched. Requires that the pod is not present, and begin_scan() of the
  // capacity. Cost: O(victims x that of the finder's units on the node).
  std::optional<NodeCandidate> candidate(PodIndex pod, NodeIndex node);
  // The same by moves alone. Only the free capacity of the node changes with them, so the state is left alone. Requires
  // that no anti-affinity, affinity or spread concerns it. Cost: O(pods on the node x devices).
  std::optional<NodeCandidate> candidate_by_moves(PodIndex pod, NodeIndex node) const;

 private:
  // The largest first if the cheapest use up a disruption budget before there is room.
  enum class VictimOrder : std::uint8_t { kCheapestFirst, kLargestFirst };
  struct Taken {
    std::vector<VictimUnit> units;
    std::vector<std::vector<Place>> places;  // from which they were taken
  };

  std::optional<NodeCandidate> candidate(PodIndex pod, NodeIndex node, VictimOrder order);
  bool take_until_fits(PodIndex pod, NodeIndex node, VictimOrder order, Taken& taken);
  NodeCandidate reprieved(PodIndex pod, NodeIndex node, Taken taken);
  std::optional<VictimUnit> next_unit(NodeIndex node, VictimOrder order) const;
  std::optional<NodeCandidate> candidate_by_moves(PodIndex pod, NodeIndex node, VictimOrder order) const;
  std::vector<PodIndex> movable_on(NodeIndex node, VictimOrder order) const;

  const Problem& problem_;
  ClusterState& state_;
  const QueueBounds& bounds_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  const VictimEligibility& eligibility_;
  VictimFinder& finder_;
  ClearableCapacity& capacity_;
};

}  // namespace muster::preemption
