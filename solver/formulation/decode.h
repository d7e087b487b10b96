// From a solution of the formulation to pods on nodes.
#pragma once

#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "solver/formulation/formulation.h"

namespace muster::formulation {

struct DecodeInput {
  const Problem& problem;
  const Demand& demand;
  const PlacementZones& zones;
  const Supply& supply;
  const QueueBounds& bounds;
  // By residual class, by position: the configurations that the solution refers to.
  const Indexed<ResidualClassIndex, std::vector<Configuration>>& configurations;
  const std::vector<EvictionChannel>& channels;
  // Affinity and spread are not checked: the caller finds an order in which all can be bound.
  bool in_some_order = false;
};

struct Decoded {
  std::int64_t missed = 0;                 // pods of the solution that could not be placed
  std::vector<PlannedEviction> evictions;  // pods that left their node, moved ones included
};

// Puts the solution's pods on the nodes of `state` (pods that stay for good are in it): first the residents that stay,
// then gangs of a class oldest first, each whole. If the solution's places do not suffice for a gang, nothing of it is
// left behind. Every put passes the fit test, so the state obeys the rules of placement whatever the solution was; the
// caller checks whether the evictions obey theirs (EvictionRules::hold).
Decoded decode(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state);

}  // namespace muster::formulation
