// From a solution of the formulation to pods on nodes.
#pragma once

#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/fit.h"
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
};

// Positions on the node of RoomClass::free_devices: devices with room left, least room first, lowest position among
// equals.
std::vector<std::int32_t> device_positions(const ClusterState& state, NodeIndex node);

// Puts the solution's pods on the nodes of `state` (what runs and stays is in it): gangs of a class oldest first, each
// whole, or not at all where the solution's places do not suffice (then nothing of it is left behind). Every put passes
// the fit test, so the state obeys the rules whatever the solution was. Returns how many pods of the solution could not
// be placed.
std::int64_t decode(const DecodeInput& input, const FormulationSolution& solution, ClusterState& state);

}  // namespace muster
