// The levels that decide whether a claim is worth its victims: share, quota and work, of a state that is being put
// together.
//
// The values are those of model/objective/levels.h and are computed by its parts; only what changed since the last
// time is
// examined again. The levels that follow (evicted, moved, ...) can never make up for these.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/base/saturating.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"

namespace muster {

class LeadingLevels {
 public:
  LeadingLevels(const Problem& problem, const FairShares& shares);

  // Share, quota and work of each priority, all of them maximised: compare as lists. Always call with the same state; a
  // copy used with a copy of that state need not count everything again. Cost: the units of gangs that changed since
  // the last call (on the first call: of all), and O(queues x priorities) and a subset-sum for each leaf queue beyond
  // its share.
  std::vector<Work> of(const ClusterState& state);

 private:
  struct GangWork {
    std::vector<std::array<Work, 2>> units;  // in the units of gang_units
    std::array<Work, 2> unweighted{};
    Work weighted = 0;
    std::uint32_t version = 0;  // of the gang, as it was counted
  };
  // Of one leaf queue and kind: how often there are units of that rank and work.
  using Units = std::map<std::pair<std::size_t, Work>, std::int64_t>;

  static constexpr std::uint32_t kUnchanged = static_cast<std::uint32_t>(-1);

  bool is_told(GangIndex gang) const;  // has a level
  void count_all(const ClusterState& state);
  void recount(const ClusterState& state, GangIndex gang);
  GangWork work_of(const ClusterState& state, GangIndex gang) const;
  void add(GangIndex gang, const GangWork& work, std::int64_t times);

  const Problem& problem_;
  const FairShares& shares_;
  std::shared_ptr<const Indexed<GangIndex, GangWork>> first_;  // as first counted; none before
  Indexed<GangIndex, std::uint32_t> changed_at_;               // position in changed_, kUnchanged: as first counted
  std::vector<GangWork> changed_;                              // of gangs that have changed since
  Indexed<QueueIndex, std::array<Units, 2>> units_;
  std::vector<Indexed<QueueIndex, std::array<Wide, 2>>> unweighted_;  // by rank
  std::vector<Wide> weighted_;                                        // by rank
  std::size_t read_ = 0;                                              // of the state's changed gangs
};

}  // namespace muster
