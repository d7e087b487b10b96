// What it costs to evict or move pods, in the order of the levels.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/inputs.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// The priority of the level that loses, and the loss: a part of the cluster in millionths, or work. The default: none.
struct VictimLoss {
  std::int64_t priority = std::numeric_limits<std::int64_t>::min();
  Amount amount = 0;
  friend auto operator<=>(const VictimLoss&, const VictimLoss&) = default;
  // Losses of the same level add up; of different ones the higher counts.
  void add(const VictimLoss& other);
};

// Compared first to last: smaller is better.
struct VictimCost {
  VictimLoss share, quota, work;
  Work evicted = 0;  // work x seconds run
  Work moved = 0;
  std::int64_t excess = 0;  // ties: preferably from queues that are far above their share (negative: better),
  std::int64_t age = 0;     // and rather of gangs that were queued recently
  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
  void add(const VictimCost& other);
};

// Pods that leave together: a gang (its present running pods), or one surplus pod, or one pod that is moved.
struct VictimUnit {
  std::vector<PodIndex> pods;
  VictimCost cost;
  bool must_move = false;  // may not be evicted
};

// The cost of victims of a claim, by the usage of their queues in the current state.
class VictimCosts {
 public:
  // All must outlive it.
  VictimCosts(const PreemptionInputs& inputs, const Claim& claim)
      : problem_(inputs.problem), shares_(inputs.shares), rules_(inputs.rules), state_(inputs.state), claim_(claim) {}

  // Of evicting these pods of one gang. Requires that all are present. Cost: O(pods + depth of the queue).
  VictimCost of(GangIndex gang, std::span<const PodIndex> pods) const;
  // The part of it that the queue and those above it lose of share and quota if so much of that priority leaves.
  VictimCost loss_of(QueueIndex queue, std::int32_t priority, const QueueAmounts& goes) const;

 private:
  std::int64_t excess_of(GangIndex victim) const;

  const Problem& problem_;
  const FairShares& shares_;
  const EvictionRules& rules_;
  const ClusterState& state_;
  const Claim& claim_;
};

// Of each queue, the victims whose eviction costs least: a quick estimate for all nodes.
class LeastLosses {
 public:
  // All must outlive it.
  LeastLosses(const PreemptionInputs& inputs, const Claim& claim, const VictimEligibility& eligibility)
      : problem_(inputs.problem),
        state_(inputs.state),
        rules_(inputs.rules),
        claim_(claim),
        eligibility_(eligibility) {}

  // Of each queue that has eligible victims for the claim under way, the lowest priority of what is there. Cost:
  // O(leaf queues x priorities).
  void find();
  // As last found, in the order of the survey's queues.
  const std::vector<std::pair<QueueIndex, std::int32_t>>& of_queues() const { return losses_; }
  bool contains(QueueIndex queue, std::int32_t priority) const;

 private:
  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  const VictimEligibility& eligibility_;
  std::vector<std::pair<QueueIndex, std::int32_t>> losses_;
};

}  // namespace muster::preemption
