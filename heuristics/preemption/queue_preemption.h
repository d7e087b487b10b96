// Room in the claimant's queue, and for its minResources: victims that leave wherever they run.
#pragma once

#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eviction_ledger.h"
#include "heuristics/preemption/victims/finder.h"
#include "heuristics/preemption/victims/plan_check.h"
#include "model/problem/problem.h"

namespace muster::preemption {

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

}  // namespace muster::preemption
