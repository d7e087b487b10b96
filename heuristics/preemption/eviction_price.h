// Rule Price (docs/semantics.md, "Evictions"): what a gang may make others lose, by what it has waited.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "heuristics/state/planned_eviction.h"
#include "model/problem/problem.h"

namespace muster::preemption {

class EvictionPrice {
 public:
  // The problem must outlive it. Cost: O(pods) if the policy sets a price.
  explicit EvictionPrice(const Problem& problem);

  bool is_set() const { return price_.has_value(); }
  // Whether any pod of `victim` may leave for `claimant`, as far as its own loss goes. O(1).
  bool may_claim(GangIndex claimant, GangIndex victim) const {
    return !is_set() || least_loss_[victim] <= most_loss_[claimant];
  }
  // What others may lose for the gang, and the least that a pod of the gang that runs loses. Require a price.
  std::int64_t most_loss(GangIndex claimant) const { return most_loss_[claimant]; }
  std::int64_t least_loss(GangIndex victim) const { return least_loss_[victim]; }
  // Whether all that leaves for each claimant, moves included, is within what it may make others lose. Pods that are
  // where they ran have not left. Cost: O(evictions log claimants).
  bool holds(const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) const;

 private:
  const Problem& problem_;
  std::optional<double> price_;
  Indexed<GangIndex, std::int64_t> most_loss_;   // that others may have for the gang
  Indexed<GangIndex, std::int64_t> least_loss_;  // of a pod of the gang that runs
};

}  // namespace muster::preemption
