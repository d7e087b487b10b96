// A plan in the columns of a formulation.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "solver/rows/eviction_rows.h"

namespace muster::formulation {

// The columns that decide, and where the plan's pods then are: those that are placed, moved or stay, as far as the
// formulation is about them.
struct PlanColumns {
  struct Place {
    DemandIndex demand;
    ZoneIndex zone;  // as in AskedPods
    NodeIndex node;
  };
  std::vector<std::pair<std::int32_t, std::int64_t>> decisions;
  std::vector<Place> places;
};

// The columns of gangs, of pods that are placed or moved, and of evictions, with their values. The others follow. Cost:
// O(pods x log columns).
PlanColumns plan_columns(const FormulationInput& input, const GangColumns& columns, const EvictionRows& evictions,
                         const Plan& plan);

}  // namespace muster::formulation
