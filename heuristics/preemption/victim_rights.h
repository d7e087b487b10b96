// Rule Not in vain, once nothing more is placed: whether each evicted unit had to leave for the gangs that may evict
// it, and what becomes of those that had not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/preemption/eviction_ledger.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/preemption/put_back.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Pods of gangs that may not evict a unit never count as a reason for its leaving. Where such pods took its room, they
// change places with pods of gangs that have the right, or give way, and the unit comes back. A moved pod comes
// home if all others find room next to it.
class VictimRights {
 public:
  // All must outlive it.
  VictimRights(const PreemptionInputs& inputs, EvictionLedger& ledger, const PlanCheck& check)
      : inputs_(inputs), problem_(inputs.problem), state_(inputs.state), ledger_(ledger), check_(check) {}

  // Makes every eviction hold by right. Returns whether the state has changed. Gangs that gave way are placed again if
  // they fit. Cost: O(evictions x pods on their nodes) if all hold by right, and a check of the rules for each that
  // comes back.
  bool settle();

 private:
  // Pods of one gang that leave together: what is evicted of its minimum, or one pod beyond it. Those of one node
  // follow each other.
  struct Unit {
    GangIndex gang;
    std::span<const PodIndex> pods;
  };
  void read_evictions();
  bool settle(const Unit& unit);
  bool is_away(const Unit& unit) const;
  bool hold();
  std::set<GangIndex> with_queues_of(std::set<GangIndex> gangs, const Unit& unit) const;
  std::vector<GangIndex> by_loss(const std::set<GangIndex>& gangs) const;
  bool bring_home(PodIndex moved);
  bool may_evict(GangIndex claimant, const Unit& unit, std::span<const PodIndex> pods) const;
  bool may_evict(GangIndex claimant, const Unit& unit) const { return may_evict(claimant, unit, unit.pods); }
  bool may_reclaim(GangIndex claimant, GangIndex victim) const;
  bool is_protected(const Unit& unit, PodIndex pod, GangIndex claimant, EvictionReason reason) const;
  std::vector<GangIndex> claimants_of(PodIndex arrival) const;
  bool counts(const Unit& unit, std::span<const PodIndex> ran_there, PodIndex arrival) const;
  bool is_arrival(PodIndex pod) const;
  std::vector<PodIndex> others_on_nodes_of(const Unit& unit) const;
  bool has_room(const Unit& unit);
  bool is_surely_out(PodIndex pod) const;
  bool fits_with_other_devices(PodIndex pod);
  bool change_places(const Unit& unit, PodIndex other);
  bool exchange(PodIndex pod, std::span<const PodIndex> others);
  bool comes_back(const Unit& unit);
  bool could_have_stayed(const Unit& unit);
  bool give_back(const Unit& unit, const std::vector<GangIndex>& giving_way);
  std::vector<GangIndex> placed_gangs(const std::function<bool(GangIndex)>& counts) const;
  bool give_way(const std::vector<GangIndex>& gangs);
  bool is_free_to_change(PodIndex pod) const;
  std::vector<const Unit*> units_on(NodeIndex node) const;

  const PreemptionInputs& inputs_;
  const Problem& problem_;
  ClusterState& state_;
  EvictionLedger& ledger_;
  const PlanCheck& check_;
  std::vector<PodIndex> lost_;  // of all units
  std::vector<Unit> units_;
  std::vector<std::pair<PodIndex, GangIndex>> moved_for_;  // ascending
  // Whether claimants of one kind may reclaim from a queue; until the state changes.
  mutable std::map<std::pair<std::uint64_t, QueueIndex>, bool> reclaims_;
  std::vector<GangIndex> gave_way_;
  std::size_t exchanges_left_ = 0;
};

}  // namespace muster::preemption
