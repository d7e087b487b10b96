// The levels that depend on what is on which node: `wholeNodes`, `cpuOnGpuNodes`, `preference` and the last one. None
// where the configurations at hand cannot express them: these may hold more than is placed, unless all are listed.
#pragma once

#include <optional>

#include "solver/rows/supply_rows.h"
#include "solver/rows/topology_rows.h"

namespace muster::formulation {

// Cost of each: O(configurations x demand classes of each).
std::optional<lp::LinearExpression> whole_nodes_level(const FormulationInput& input, const SupplyRows& supply);
std::optional<lp::LinearExpression> cpu_on_gpu_nodes_level(const FormulationInput& input, const SupplyRows& supply);
std::optional<lp::LinearExpression> last_level(const FormulationInput& input, const SupplyRows& supply);
// On nodes: terms met, soft taints, nominated nodes. Of groups: in one domain of their preferred level, which adds
// columns and rows. Scale 100.
std::optional<lp::LinearExpression> preference_level(const FormulationInput& input, const SupplyRows& supply,
                                                     TopologyRows& topology);

}  // namespace muster::formulation
