// Reprieves victims: those that turn out not to be in the way come back, others move on, and pods that gave way are
// placed again.
#pragma once

#include <vector>

#include "heuristics/preemption/capacity_watch.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eviction_ledger.h"
#include "heuristics/preemption/victims/plan_check.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// A gang's evicted pods come back together: enough for its minimum, or all, or none.
class VictimReturn {
 public:
  // All must outlive it.
  VictimReturn(const PreemptionInputs& inputs, const Claim& claim, EvictionLedger& ledger, const PlanCheck& check,
               CapacityWatch& watch)
      : problem_(inputs.problem),
        state_(inputs.state),
        bounds_(inputs.bounds),
        placer_(inputs.placer),
        claim_(claim),
        ledger_(ledger),
        check_(check),
        watch_(watch) {}

  // Once a claim is placed. Victims of earlier claims are tried again only if some node has more free than before.
  // Cost: O(victims), and that of a placement for each that moves on.
  void settle();
  // Then: those that gave way may find room elsewhere.
  void place_again();
  // Once nothing more is placed: each victim that fits where it was comes back, alone if need be, as long as all rules
  // hold. Cost: O(victims) a round, and a check of the rules for each that comes back.
  void reprieve();

 private:
  std::vector<GangIndex> evicted_gangs(const std::vector<PodIndex>& pods) const;
  bool claimant_fits() const;
  bool bring_back(GangIndex gang);
  bool bring_back_completed(GangIndex gang);
  bool bring_moved_back(const std::vector<PodIndex>& pods);
  bool move_elsewhere(GangIndex gang);
  template <class Change>
  bool keep_if_legal(const Change& change);

  const Problem& problem_;
  ClusterState& state_;
  const QueueBounds& bounds_;
  placement::GangPlacer& placer_;
  const Claim& claim_;
  EvictionLedger& ledger_;
  const PlanCheck& check_;
  CapacityWatch& watch_;
};

}  // namespace muster::preemption
