// A claim: which gang asks for room, by which action room is made for it, and what else decides which pods may leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

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
  GangIndex claimant;  // none: nothing was claimed yet
  std::int32_t rank = 0;
  PreemptionMode mode = PreemptionMode::kSwap;
  ClaimStage stage = ClaimStage::kPlain;
  std::optional<ExchangeLimit> exchange;                          // under way
  QueueAmounts added{};                                           // by the pod that room is being made for, at least
  std::uint64_t attempt = 0;                                      // grows with each attempt to meet a claim
  std::vector<std::pair<QueueIndex, std::int32_t>> least_losses;  // as found by least_losses(), where it is needed
  std::vector<GangIndex> relocating;  // gangs of which a pod is being relocated: their other pods stay

  bool evicts() const { return mode == PreemptionMode::kPreempt || mode == PreemptionMode::kReclaim; }
};

// At which rank each new pod was placed: pods of later ranks may have to give way to a claim of an earlier one.
//
// A rank is a position in the order of the levels, from 0. Cost: O(1) for each pod.
class PlacementRanks {
 public:
  explicit PlacementRanks(const ClusterState& state) : state_(state), rank_of_(state.problem().pods.size(), -1) {}

  // Records the rank at which the newly placed pods of a gang, or one of them alone, were placed, the first time;
  // forgets it if a pod is not present.
  void note(PodIndex pod, std::int32_t rank) {
    latest_ = std::max(latest_, rank);
    if (!fit::is_pending(state_.problem().pods[pod])) return;
    if (!state_.is_present(pod)) {
      rank_of_[pod] = -1;
    } else if (rank_of_[pod] < 0) {
      rank_of_[pod] = rank;
    }
  }
  void note(GangIndex gang, std::int32_t rank) {
    for (const PodIndex pod : state_.problem().gangs[gang].pods) note(pod, rank);
  }
  std::int32_t latest() const { return latest_; }  // of all that was ever placed; below 0: none
  bool any_after(std::int32_t rank) const { return latest_ > rank; }

  // Gangs for which there are evictions do not give way. Call before may_give_way whenever evictions have changed.
  // Cost: O(gangs + evictions).
  void protect_claimants(std::span<const PlannedEviction> evictions) {
    has_victims_.assign(state_.problem().gangs.size(), false);
    for (const PlannedEviction& eviction : evictions) {
      if (!eviction.for_gang.is_none()) has_victims_[eviction.for_gang.value()] = true;
    }
  }
  // Whether a newly placed pod may be taken back for the claim: it was placed for a later level, and no victims were
  // evicted for it.
  bool may_give_way(PodIndex pod, const Claim& claim) const {
    const Pod& p = state_.problem().pods[pod];
    return fit::is_pending(p) && p.gang != claim.claimant && rank_of_[pod] > claim.rank &&
           !has_victims_[p.gang.value()];
  }

 private:
  const ClusterState& state_;
  Indexed<PodIndex, std::int32_t> rank_of_;  // below 0: not newly placed
  std::int32_t latest_ = -1;
  std::vector<bool> has_victims_;  // by gang
};

}  // namespace muster::preemption
