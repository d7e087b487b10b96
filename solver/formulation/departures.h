// For which gang, and by which right, each pod leaves its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"

namespace muster::formulation {

struct DepartureInput {
  const Problem& problem;
  const Demand& demand;
  const std::vector<EvictionChannel>& channels;
};

// Evictions and moves of the pods in `leaving` that are not at home in `state`: by the channels of `evicted`, as
// FormulationSolution has them, and for a gang of which a pod that waited is in `state`, on the same node if there is
// one. A pod beyond what the channels hold gets preempt and no claimant; the caller finds it one. Cost: O(pods).
std::vector<PlannedEviction> explain_departures(
    const DepartureInput& input,
    const Indexed<RunningCellIndex, std::vector<std::pair<std::size_t, std::int64_t>>>& evicted,
    const Indexed<RunningCellIndex, std::vector<PodIndex>>& leaving, const ClusterState& state);

}  // namespace muster::formulation
