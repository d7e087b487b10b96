// Once all claims are settled: for each priority with evictions, all victims are chosen anew together.
//
// Claims choose their victims one after another, each the cheapest for itself. A gang that has run for a short time and
// occupies many nodes is too expensive for any single claim, though all claims together could use its resources. This
// step evicts the gangs that have run for the shortest time, as much work as was evicted before, and the others come
// back: on their old nodes, on free nodes, or where moves alone make room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/exchange_attempt.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/victim_choice.h"
#include "heuristics/state/candidate.h"
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

// Once all claims are settled: evicted gangs run on elsewhere, in place of others of their queue and priority that have
// run for a shorter time. The victims of a claim were the best at that time, on the node that was cleared; later
// placements and evictions leave other choices.
class VictimExchange {
 public:
  // All must outlive it.
  VictimExchange(const PreemptionInputs& inputs, Claim& claim, const EvictionLedger& ledger, ExchangeAttempt& attempt,
                 const StopFlag& stop)
      : problem_(inputs.problem),
        state_(inputs.state),
        rules_(inputs.rules),
        claim_(claim),
        ledger_(ledger),
        attempt_(attempt),
        stop_(stop) {}

  // Requires that moves are allowed. Afterwards no exchange is under way. Cost: that of a claim for each evicted gang,
  // several times over.
  void run();

 private:
  // Pods of one gang, and why the first of them was evicted. Times in seconds.
  struct Evicted {
    std::vector<PodIndex> pods;
    PlannedEviction first{};
    std::int64_t least_seconds = std::numeric_limits<std::int64_t>::max();
  };
  using ShortestRuns = std::map<std::pair<QueueIndex, std::int32_t>, std::int64_t>;
  // What is known of exchanges on one state.
  struct Memory {
    using Kind = std::tuple<QueueIndex, std::int32_t, PodClassIndex, GangIndex, EvictionReason>;
    ClusterState::Checkpoint state = static_cast<ClusterState::Checkpoint>(-1);
    std::map<Kind, std::size_t> failed;  // for this many equivalent pods of one gang
    ShortestRuns shortest_runs;
  };

  bool run_once();
  std::vector<Evicted> evicted_longest_run_first() const;
  bool exchange_unless_in_vain(const Evicted& evicted, Memory& memory);
  bool exchange(const Evicted& evicted, ClaimStage stage);
  ShortestRuns shortest_runs() const;
  static std::int64_t most_seconds(const Evicted& evicted);

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  Claim& claim_;
  const EvictionLedger& ledger_;
  ExchangeAttempt& attempt_;
  const StopFlag& stop_;
};

}  // namespace muster::preemption
