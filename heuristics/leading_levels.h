// The levels that decide whether a claim is worth its victims: share, quota and work, of a state that is being put
// together.
//
// The values are those of model/levels.h and are computed by its parts; only what changed since the last time is looked
// at again. The levels that follow (evicted, moved, ...) can never make up for these.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heuristics/cluster_state.h"
#include "model/fair_share.h"
#include "model/problem.h"

namespace muster {

class LeadingLevels {
 public:
  LeadingLevels(const Problem& problem, const FairShares& shares);

  // In the order of level_ids, all of them maximised: compare as lists. Always ask with the same state.
  // Cost: O(gangs) and the units of gangs that changed, and a subset-sum for each leaf queue beyond its share.
  std::vector<Work> of(const ClusterState& state);

 private:
  struct GangWork {
    std::uint32_t version = 0;  // of the state's, when it was counted
    bool is_counted = false;
    std::vector<std::array<Work, 2>> units;  // as gang_units tells them
    std::array<Work, 2> unweighted{};
    Work weighted = 0;
  };
  void count(const ClusterState& state, GangIndex gang, GangWork& work) const;

  const Problem& problem_;
  const FairShares& shares_;
  Indexed<GangIndex, GangWork> gangs_;
};

}  // namespace muster
