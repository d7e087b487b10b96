// Once all claims are settled: for each priority with evictions, all victims are chosen anew together.
//
// Claims choose their victims one after another, each the cheapest for itself. A gang that has run for a short time and
// occupies many nodes is too expensive for any single claim, though all claims together could use its resources. This
// step evicts the gangs that have run for the shortest time, as much work as was evicted before, and the others come
// back: on their old nodes, on free nodes, or where moves alone make room.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "heuristics/preemption/exchange_attempt.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/stop_flag.h"
#include "heuristics/preemption/victims/claim.h"
#include "heuristics/preemption/victims/eviction_ledger.h"
#include "heuristics/preemption/victims/group_choice.h"
#include "heuristics/state/planned_eviction.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class VictimRechoice {
 public:
  // All must outlive it.
  VictimRechoice(const PreemptionInputs& inputs, Claim& claim, EvictionLedger& ledger, ExchangeAttempt& attempt,
                 const StopFlag& stop)
      : problem_(inputs.problem),
        shares_(inputs.shares),
        state_(inputs.state),
        rules_(inputs.rules),
        claim_(claim),
        ledger_(ledger),
        attempt_(attempt),
        stop_(stop) {}

  // At most this many rounds for each priority, as long as the levels improve. Requires that moves are allowed.
  // Afterwards no exchange is under way. Cost: O(pods), and that of a claim for each group that changes, a round.
  void run(int most_rounds);

 private:
  // Of each queue an eviction: any further victim there leaves for the same claim, in the same way.
  using Examples = std::map<QueueIndex, PlannedEviction>;

  bool choose_anew(std::int32_t priority);
  bool choose_anew(std::int32_t priority, bool each_its_own);
  Examples examples_of(std::int32_t priority) const;
  std::vector<VictimGroup> groups_of(std::int32_t priority, const Examples& examples) const;
  VictimGroup described(VictimGroup group, const Gang& gang) const;
  QueueRoom room_of_queues(std::int32_t priority, const std::vector<VictimGroup>& groups, bool each_its_own) const;
  void spare_for_budgets(std::vector<VictimGroup>& groups) const;
  void bring_back(const std::vector<VictimGroup>& groups);

  const Problem& problem_;
  const FairShares& shares_;
  ClusterState& state_;
  const EvictionRules& rules_;
  Claim& claim_;
  EvictionLedger& ledger_;
  ExchangeAttempt& attempt_;
  const StopFlag& stop_;
};

}  // namespace muster::preemption
