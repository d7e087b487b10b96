// At which rank each new pod was placed: pods of later ranks may have to give way to a claim of an earlier one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/preemption/victims/claim.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/planned_eviction.h"
#include "model/base/index.h"
#include "model/problem/problem.h"

namespace muster::preemption {

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

}  // namespace muster::preemption
