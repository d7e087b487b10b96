// Of each queue, the victims whose eviction costs least: a quick estimate for all nodes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eligibility.h"
#include "model/problem/problem.h"

namespace muster::preemption {

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
