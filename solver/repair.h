// What makes a good plan of an end state that decoding has left: who went without need comes back, and what is free is
// filled up.
#pragma once

#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/eviction_rules.h"
#include "heuristics/fit.h"
#include "heuristics/greedy.h"
#include "heuristics/node_choice.h"
#include "solver/column_generation.h"
#include "solver/deadline.h"
#include "solver/demand.h"

namespace muster {

class Repair {
 public:
  // All of it outlives the repair.
  Repair(const Setting& setting, const Demand& demand, const QueueBounds& bounds)
      : problem_(setting.problem), shares_(setting.shares), rules_(setting.rules), demand_(demand), bounds_(bounds) {}

  // Whoever can go on where he ran does: of a gang all, or so many that it has its minimum. Higher priorities first.
  void bring_back(ClusterState& state, const std::vector<PlannedEviction>& evictions) const;
  // A rounded solution may tear gangs: where one has lost pods and is left below its minimum, the others go, too. It
  // may also take more pods of a disruption budget than that allows: then those of high priority go home, and what was
  // placed in their stead gives way.
  void let_torn_gangs_go(ClusterState& state, std::vector<PlannedEviction>& evictions) const;
  // Whose claimant found no place after all goes for another one that may preempt him, on his own node if there is one.
  void name_claimants(const ClusterState& state, std::vector<PlannedEviction>& evictions) const;
  // What is left out and still fits: minimums by priority, more work first; then what is elastic.
  void fill_up(ClusterState& state, const Deadline& deadline) const;
  // Makes room, as greedy does, for gangs that are left out: more evictions and moves beside those that there are, as
  // far as the rules hold.
  void claim_more(ClusterState& state, std::vector<PlannedEviction>& evictions, const Deadline& deadline) const;

 private:
  std::vector<GangIndex> waiting(const ClusterState& state) const;
  bool bring_back(ClusterState& state, GangIndex gang, const std::vector<PodIndex>& pods) const;
  void keep_budgets(ClusterState& state, const std::vector<PlannedEviction>& evictions) const;
  bool send_home(ClusterState& state, const std::vector<PodIndex>& pods) const;
  bool clear_home(ClusterState& state, PodIndex pod, std::vector<GangIndex>& gave_way) const;
  bool keeps_domains(const ClusterState& state, GangIndex gang) const;
  bool keeps_min_resources(const ClusterState& state) const;
  bool fits_at_home(const ClusterState& state, PodIndex pod, const Place& home) const;

  const Problem& problem_;
  const FairShares& shares_;
  const EvictionRules& rules_;
  const Demand& demand_;
  const QueueBounds& bounds_;
};

}  // namespace muster
