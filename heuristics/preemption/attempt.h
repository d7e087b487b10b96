// One attempt after another to improve the leading levels, each kept or undone as a whole.
#pragma once

#include <utility>
#include <vector>

#include "heuristics/preemption/capacity_watch.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/nominator.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eviction_ledger.h"
#include "heuristics/preemption/victims/placement_ranks.h"
#include "heuristics/state/leading_levels.h"

namespace muster::preemption {

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

}  // namespace muster::preemption
