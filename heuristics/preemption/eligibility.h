// Which pods may leave for the claim under way: be evicted, moved, or give way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/preemption/inputs.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// The claim under way: which gang asks for room, and by which action room is made for it.
//
// The action that makes room. kSwap: pods that were placed for later levels are taken back; nothing that runs changes.
enum class PreemptionMode : std::uint8_t { kSwap, kConsolidate, kPreempt, kReclaim };

// Whether blocking pods may be relocated, evicting lower-priority pods elsewhere to make room for them.
// kPlacingDisplaced: the pod that room is made for is such a relocated pod.
enum class ClaimStage : std::uint8_t { kPlain, kDisplacing, kPlacingDisplaced };

// The victims that may replace evicted pods in an exchange: of one queue and priority, and at most that long running.
struct ExchangeLimit {
  QueueIndex queue;
  std::int32_t priority = 0;
  std::int64_t most_seconds = 0;
};

// Everything that decides which pods may leave for the pod that is being placed, apart from the state. Times in
// seconds, amounts as in QueueAmounts.
struct Claim {
  GangIndex claimant;  // of the current attempt, or the last one; none: nothing was claimed yet
  std::int32_t rank = 0;
  PreemptionMode mode = PreemptionMode::kSwap;
  ClaimStage stage = ClaimStage::kPlain;
  std::optional<ExchangeLimit> exchange;  // under way
  QueueAmounts added{};                   // by the pod that room is being made for, at least
  std::uint64_t attempt = 0;              // grows with each attempt to meet a claim

  bool evicts() const { return mode == PreemptionMode::kPreempt || mode == PreemptionMode::kReclaim; }
};

// At which rank each new pod was placed: pods of later ranks may have to give way to a claim of an earlier one.
//
// A rank is a position in the order of the levels, from 0. Cost: O(1) for each pod.
class PlacementRanks {
 public:
  explicit PlacementRanks(const ClusterState& state)
      : problem_(state.problem()), state_(state), rank_of_(problem_.pods.size(), -1) {}

  // Records the rank at which a newly placed pod was placed, the first time; forgets it if the pod is not present.
  void note(PodIndex pod, std::int32_t rank) {
    latest_ = std::max(latest_, rank);
    if (!fit::is_pending(problem_.pods[pod])) return;
    if (!state_.is_present(pod)) {
      rank_of_[pod] = -1;
    } else if (rank_of_[pod] < 0) {
      rank_of_[pod] = rank;
    }
  }
  void note(GangIndex gang, std::int32_t rank) {
    for (const PodIndex pod : problem_.gangs[gang].pods) note(pod, rank);
  }
  std::int32_t latest() const { return latest_; }  // of all that was ever placed; below 0: none
  bool any_after(std::int32_t rank) const { return latest_ > rank; }

  // Gangs for which there are evictions do not give way. Call before may_give_way whenever evictions have changed.
  // Cost: O(gangs + evictions).
  void protect_claimants(std::span<const PlannedEviction> evictions) {
    has_victims_.assign(problem_.gangs.size(), false);
    for (const PlannedEviction& eviction : evictions) {
      if (!eviction.for_gang.is_none()) has_victims_[eviction.for_gang.value()] = true;
    }
  }
  // Whether a newly placed pod may be taken back for the claim: it was placed for a later level, and no victims were
  // evicted for it.
  bool may_give_way(PodIndex pod, const Claim& claim) const {
    const GangIndex gang = problem_.pods[pod].gang;
    return fit::is_pending(problem_.pods[pod]) && gang != claim.claimant && rank_of_[pod] > claim.rank &&
           !has_victims_[gang.value()];
  }

 private:
  const Problem& problem_;
  const ClusterState& state_;
  Indexed<PodIndex, std::int32_t> rank_of_;  // below 0: not newly placed
  std::int32_t latest_ = -1;
  std::vector<bool> has_victims_;  // by gang
};

// Answers depend on the claim and the current state. Cost: O(depth of the queue) for reclaim, else O(1).
class VictimEligibility {
 public:
  // All must outlive it.
  VictimEligibility(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks)
      : problem_(inputs.problem), state_(inputs.state), rules_(inputs.rules), claim_(claim), ranks_(ranks) {}

  // Whether no pod anywhere may be evicted, moved, or give way. Can err on one side only: possibly none of the pods
  // that once ran is left. Cost: O(leaf queues).
  bool is_hopeless() const;
  bool is_claimant_new() const;  // none of its pods runs. Cost: O(pods of the gang)

  // A scan of the nodes begins: what may_evict_at_first remembers of the queues is forgotten. Cost: O(queues).
  void begin_scan() { may_take_from_.assign(problem_.queues.size(), -1); }
  // Whether the gang, or any other of its queue, may be reclaimed, and the same remembered for the scan.
  bool may_reclaim(GangIndex victim) const;
  bool may_reclaim_in_scan(QueueIndex queue, GangIndex victim);

  // Whether a running pod may be evicted.
  bool may_evict(PodIndex pod) const;
  // The same as of the start of the scan. Eligibility for reclaim depends on the queue alone.
  bool may_evict_at_first(PodIndex pod);
  bool may_move(PodIndex pod) const {
    return problem_.pods[pod].gang != claim_.claimant && rules_.may_move(state_, pod);
  }
  bool may_give_way(PodIndex pod) const { return ranks_.may_give_way(pod, claim_); }
  bool may_be_displaced(PodIndex pod) const {
    return problem_.pods[pod].gang != claim_.claimant &&
           (fit::is_pending(problem_.pods[pod]) || rules_.may_move(state_, pod));
  }

 private:
  bool may_go_in_exchange(PodIndex pod) const;

  const Problem& problem_;
  const ClusterState& state_;
  const EvictionRules& rules_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  Indexed<QueueIndex, std::int8_t> may_take_from_;  // at the start of a scan: 1 yes, 0 no, -1 not known yet
};

}  // namespace muster::preemption
