// From a solution of the formulation to pods on nodes.
#pragma once

#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/fit.h"
#include "heuristics/greedy.h"
#include "solver/formulation.h"

namespace muster {

struct DecodeInput {
  const Problem& problem;
  const Demand& demand;
  const Atoms& atoms;
  const Supply& supply;
  const QueueBounds& bounds;
  // By room class, by position: the configurations that the solution speaks of.
  const Indexed<RoomClassIndex, std::vector<Configuration>>& configurations;
  const std::vector<EvictionChannel>& channels;
  // Affinity and spread are not looked at: an order in which all can be bound is for the caller to find.
  bool in_some_order = false;
};

struct Decoded {
  std::int64_t missed = 0;                 // pods of the solution that could not be placed
  std::vector<PlannedEviction> evictions;  // who left where he ran, moved ones included
};

// Puts the solution's pods on the nodes of `state` (what stays for good is in it): first who stays where he runs, then
// gangs of a class oldest first, each whole, or not at all where the solution's places do not suffice (then nothing of
// it is left behind). Every put passes the fit test, so the state obeys the rules of placement whatever the solution
// was; whether the evictions obey theirs is for the caller to ask (EvictionRules::hold).
Decoded decode(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state);

// Marks the nodes that a solution fills: of each room class the first ones, as decoding takes them.
void reserve_nodes(const Supply& supply, const FormulationSolution& solution, std::vector<bool>& reserved);

}  // namespace muster
