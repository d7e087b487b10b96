// One attempt to exchange victims once all claims are settled: some leave, others come back.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/preemption/attempt.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/nominator.h"
#include "heuristics/preemption/victim_return.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eviction_ledger.h"
#include "heuristics/preemption/victims/placement_ranks.h"
#include "heuristics/preemption/victims/plan_check.h"
#include "heuristics/state/planned_eviction.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class ExchangeAttempt {
 public:
  // What it began with: the state, and what was lost by evictions.
  struct Before {
    PreemptionAttempt::Before all;
    std::int64_t evicted_loss = 0;
  };

  // All must outlive it.
  ExchangeAttempt(const PreemptionInputs& inputs, Claim& claim, const PlacementRanks& ranks, EvictionLedger& ledger,
                  const PlanCheck& check, NodeNominator& nominator, VictimReturn& returns, PreemptionAttempt& attempt)
      : state_(inputs.state),
        bounds_(inputs.bounds),
        placer_(inputs.placer),
        claim_(claim),
        ranks_(ranks),
        ledger_(ledger),
        check_(check),
        nominator_(nominator),
        returns_(returns),
        attempt_(attempt) {}

  // From now on only victims within the limit leave, and no newly placed gang gives way.
  Before begin(const ExchangeLimit& limit);
  // Any new victim leaves for the same claim, and in the same way, as the evicted one.
  void evict_like(const PlannedEviction& eviction);
  // Puts the pods that are not present back, or elsewhere, with room made by the claim's victims: all or none.
  bool bring(const std::vector<PodIndex>& pods);
  // Victims that are no longer needed come back. Whether the leading levels are better, or are the same and less is
  // evicted; otherwise nothing has changed.
  bool end(const Before& before);
  void undo(const Before& before) { attempt_.undo(before.all); }

 private:
  ClusterState& state_;
  const QueueBounds& bounds_;
  placement::GangPlacer& placer_;
  Claim& claim_;
  const PlacementRanks& ranks_;
  EvictionLedger& ledger_;
  const PlanCheck& check_;
  NodeNominator& nominator_;
  VictimReturn& returns_;
  PreemptionAttempt& attempt_;
};

}  // namespace muster::preemption
