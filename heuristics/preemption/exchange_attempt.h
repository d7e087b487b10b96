// One attempt to exchange victims once all claims are settled: some leave, others come back.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/nominator.h"
#include "heuristics/preemption/put_back.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/leading_levels.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// One attempt after another to improve the leading levels, each kept or undone as a whole.
class PreemptionAttempt {
 public:
  using Before = EvictionLedger::Checkpoint;

  // All must outlive it.
  PreemptionAttempt(const PreemptionInputs& inputs, Claim& claim, PlacementRanks& ranks, EvictionLedger& ledger,
                    NodeNominator& nominator, CapacityWatch& watch)
      : problem_(inputs.problem),
        shares_(inputs.shares),
        state_(inputs.state),
        claim_(claim),
        ranks_(ranks),
        ledger_(ledger),
        nominator_(nominator),
        watch_(watch),
        leading_levels_(inputs.levels != nullptr ? *inputs.levels : LeadingLevels(inputs.problem, inputs.shares)) {}

  // Cost: that of LeadingLevels::of unless nothing has changed since the last attempt ended.
  Before begin() {
    ++claim_.attempt;
    nominator_.begin_attempt();
    const Before before = ledger_.begin_attempt();
    // Between attempts the state's log only grows, so a log of the same length means the same state.
    if (levels_at_ != before.state) levels_ = levels_now();
    levels_at_ = before.state;
    return before;
  }
  // As the attempt began, and of the state as it is: the levels down to `work`, in their order, with `evictedBeyond`
  // left at 0. `preempted`, which is minimised, has its sign reversed: compare as lists. Cost: that of
  // LeadingLevels::of, and O(evictions x priorities) if pods may be preempted.
  const std::vector<Work>& levels_before() const { return levels_; }
  std::vector<Work> levels_now();
  // The attempt stays, with these levels. Gangs that gave way and are placed again count from the next rank on.
  void keep(std::vector<Work> levels) {
    levels_ = std::move(levels);
    levels_at_ = state_.checkpoint();
    for (const GangIndex gang : ledger_.gave_way()) ranks_.note(gang, claim_.rank + 1);
  }
  // Nothing has changed since.
  void undo(const Before& before) {
    ledger_.rollback(before);
    watch_.has_grown();
  }

 private:
  const Problem& problem_;
  const FairShares& shares_;
  const ClusterState& state_;
  Claim& claim_;
  PlacementRanks& ranks_;
  EvictionLedger& ledger_;
  NodeNominator& nominator_;
  CapacityWatch& watch_;
  LeadingLevels leading_levels_;
  std::vector<Work> levels_;  // of the state at levels_at_, before any current claim
  ClusterState::Checkpoint levels_at_ = static_cast<ClusterState::Checkpoint>(-1);
};

// Reprieves victims: those that turn out not to be in the way come back, others move on, and pods that gave way are
// placed again.
//
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
