// Room for a gang that does not fit: by taking back placements of gangs that come later in the order of the levels
// (swap), by moving running pods (consolidate), or by evicting them (preempt, reclaim).
//
// A claim is a gang's minimum, or one more pod of a gang that has it. For each of its pods that fits on no node, a node
// is nominated: the one on which the victims cost least. Then victims that turn out not to be in the way are reprieved,
// and others are moved to nodes where they fit. The result is kept only if every rule of evictions holds and the levels
// are better than before. Removing victims first and then reprieving those that still fit is the method of
// kube-scheduler; that victims are whole gangs or surplus pods, and that a claim is a gang, is that of KAI.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/exchange_attempt.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/nominator.h"
#include "heuristics/preemption/put_back.h"
#include "heuristics/preemption/victim_rights.h"
#include "heuristics/state/candidate.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class PreemptionPlanner {
 public:
  // `stale`: evictions that are settled already.
  PreemptionPlanner(const PreemptionInputs& inputs, std::vector<PlannedEviction> stale);
  PreemptionPlanner(const PreemptionPlanner&) = delete;
  PreemptionPlanner& operator=(const PreemptionPlanner&) = delete;

  // Whether any action of the policy could make room at all.
  bool is_allowed() const { return inputs_.problem.snapshot->policy.actions.place; }
  // As the free function of that name.
  bool devices_fit_total(const PodClass& pod_class, std::int64_t pods) const {
    return muster::preemption::devices_fit_total(inputs_.state, pod_class, pods);
  }
  // Whether a claim of that rank, or of a later one that follows it, could be met at all: some pod may be evicted.
  bool may_claim(std::int32_t rank) const;
  // Makes room for the gang's minimum, or for one more pod, and places it. False: nothing has changed. `rank` is the
  // claim's place in the order of the levels: pods placed at a later rank (see note_placed) may have to give way. Cost:
  // for each mode and pod, that of a scan of the nodes for victims.
  bool claim_minimum(GangIndex gang, std::int32_t rank);
  bool claim_pod(PodIndex pod, std::int32_t rank);
  // Records the rank at which the newly placed pods of the gang, or one of them alone, were placed.
  void note_placed(GangIndex gang, std::int32_t rank) { ranks_.note(gang, rank); }
  void note_placed(PodIndex pod, std::int32_t rank) { ranks_.note(pod, rank); }

  // Takes over the decisions of another planner: the state is as these evictions leave it, with all placements.
  void adopt(const std::vector<PlannedEviction>& evictions);

  // The evictions of the state as it is, and whether they obey the rules.
  std::vector<PlannedEviction> evictions() const { return ledger_.evictions(); }
  bool rules_hold() const { return check_.rules_hold(); }
  bool min_resources_hold(GangIndex gang) const { return check_.min_resources_hold(gang); }  // see fit::min_resources
  bool has_evicted() const { return ledger_.has_evicted(); }
  bool has_stopped() const { return stop_.is_raised(); }  // since the beginning, or reprieve(): it was asked to
  // Once nothing more is placed: chooses the victims that have run for the shortest time (on the first call only), then
  // returns each victim that fits where it was after all, or whose room only gangs took that may not evict it. Cost:
  // O(pods), and that of a claim for each victim that changes.
  void reprieve();
  // The last part of it alone.
  void settle_rights() { rights_.settle(); }
  // Then: lets evicted gangs run on elsewhere in place of others of their queue and priority that have run for a
  // shorter time, if no leading level loses by it. Cost: that of a claim for each evicted gang, several times over.
  void exchange_victims();

 private:
  // How room is made: by which action, and whether blocking pods may be relocated in place of other victims.
  struct Method {
    PreemptionMode mode = PreemptionMode::kSwap;
    bool displaces = false;
  };

  template <class Place>
  bool claim(GangIndex gang, const Place& place);
  template <class Place>
  bool claim_by_evicting(const Place& place);
  template <class Place>
  bool attempt(Method method, const Place& place);
  template <class Place>
  std::optional<std::vector<Work>> try_once(Method method, const Place& place, PreemptionAttempt::Before& before);
  std::vector<Method> methods_to_evict() const;
  bool loses_least() const;
  void choose_victims_anew(int most_rounds);

  PreemptionInputs inputs_;
  StopFlag stop_;
  Claim claim_;
  PlacementRanks ranks_;
  EvictionLedger ledger_;
  PlanCheck check_;
  VictimEligibility eligibility_;
  NodeNominator nominator_;
  CapacityWatch watch_;
  VictimReturn returns_;
  VictimRights rights_;
  PreemptionAttempt attempt_;
  ExchangeAttempt exchange_attempt_;
  bool has_chosen_anew_ = false;
};

}  // namespace muster::preemption
