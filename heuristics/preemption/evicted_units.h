// What has left in units, and which gangs have a right to the room of each: rule Not in vain (docs/semantics.md) as a
// search asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/preemption/arrivals.h"
#include "heuristics/preemption/context.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Whether the pod waited and is placed; whether any pod of the gang has. Cost: O(1), O(pods of the gang).
bool is_new(const ClusterState& state, PodIndex pod);
bool has_new_pod(const ClusterState& state, GangIndex gang);

// Pods of one gang that leave together: what is evicted of its minimum, or one pod beyond it. Those of one node follow
// each other.
struct EvictedUnit {
  GangIndex gang;
  std::span<const PodIndex> pods;
};

// Pods of gangs that may not evict a unit never count as a reason for its leaving.
class EvictedUnits {
 public:
  // The context must outlive it.
  explicit EvictedUnits(PreemptionContext& context)
      : context_(context), problem_(context.problem), state_(context.state), arrivals_(context.state, context.ledger) {}

  // As the ledger has them. To be called before anything else. Cost: O(evictions log evictions).
  void read();
  // To be called once the state has changed: the right to reclaim depends on it.
  void forget() { reclaims_.clear(); }

  const std::vector<EvictedUnit>& all() const { return units_; }
  const Arrivals& arrivals() const { return arrivals_; }
  bool is_away(const EvictedUnit& unit) const;
  // That are away from it, with pods of them on other nodes or not.
  std::vector<const EvictedUnit*> left(NodeIndex node) const;

  bool may_evict(GangIndex claimant, const EvictedUnit& unit) const { return may_evict(claimant, unit, unit.pods); }
  // The arrivals on its nodes that do not count, node by node.
  std::vector<PodIndex> others_on_nodes_of(const EvictedUnit& unit) const;
  // Where it was, next to what stays and to the arrivals that count, wherever on its nodes these take their devices.
  bool has_room(const EvictedUnit& unit);
  // Whether neither the node where it ran nor, if nothing there shares devices, its idle devices have room for the pod.
  bool is_surely_out(PodIndex pod) const;
  // Puts the pod at home, and then the arrivals of its node that have devices on others: those that take most of one
  // first, each on the fullest with room for it. False: the state is to be rolled back.
  bool fits_with_other_devices(PodIndex pod);

 private:
  bool is_protected(const EvictedUnit& unit, PodIndex pod, GangIndex claimant, EvictionReason reason) const;
  bool may_evict(GangIndex claimant, const EvictedUnit& unit, std::span<const PodIndex> pods) const;
  bool may_reclaim(GangIndex claimant, GangIndex victim) const;
  bool counts(const EvictedUnit& unit, std::span<const PodIndex> ran_there, PodIndex arrival) const;

  PreemptionContext& context_;
  const Problem& problem_;
  ClusterState& state_;
  std::vector<PodIndex> lost_;  // of all units
  std::vector<EvictedUnit> units_;
  Arrivals arrivals_;
  // Whether claimants of one kind may reclaim from a queue; until the state changes.
  mutable std::map<std::pair<std::uint64_t, QueueIndex>, bool> reclaims_;
};

}  // namespace muster::preemption
