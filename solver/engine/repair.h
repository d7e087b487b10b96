// Makes a good plan of an end state that decoding has left: pods evicted without need come back, and free capacity is
// filled up.
#pragma once

#include <vector>

#include "heuristics/placement/node_choice.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "solver/budget/deadline.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/demand/demand.h"

namespace muster::engine {

class Repair {
 public:
  // All of it outlives the repair.
  Repair(const column_generation::Setting& setting, const formulation::Demand& demand, const QueueBounds& bounds)
      : problem_(setting.problem), demand_(demand), bounds_(bounds) {}

  // Every pod that can continue where it ran does: of a gang all pods, or enough for its minimum. Higher priorities
  // first. Cost: ends at the deadline.
  void bring_back(ClusterState& state, const std::vector<PlannedEviction>& evictions, const Deadline& deadline) const;
  // Places what is left out and still fits: minimums by priority, more work first; then elastic pods.
  void fill_up(ClusterState& state, const Deadline& deadline) const;

 private:
  std::vector<GangIndex> waiting(const ClusterState& state) const;
  bool bring_back(ClusterState& state, GangIndex gang, const std::vector<PodIndex>& pods) const;
  bool keeps_domains(const ClusterState& state, GangIndex gang) const;
  bool keeps_min_resources(const ClusterState& state) const;
  bool fits_at_home(const ClusterState& state, PodIndex pod, const Place& home) const;

  const Problem& problem_;
  const formulation::Demand& demand_;
  const QueueBounds& bounds_;
};

}  // namespace muster::engine
