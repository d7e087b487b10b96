// Levels that are sums of columns: `work` and `seniority`; and those that depend on what is on which node,
// `wholeNodes`, `cpuOnGpuNodes`, `preference` and the last one. These are none where the configurations at hand cannot
// express them: they may hold more than is placed, unless all are listed.
#pragma once

#include <cstdint>
#include <optional>

#include "solver/rows/supply_rows.h"
#include "solver/rows/topology_rows.h"

namespace muster::formulation {

// Of gangs of at least this priority. Cost: O(pods + cells).
lp::LinearExpression work_level(const FormulationInput& input, const GangColumns& columns, std::int32_t priority);
// Adds a column for each age of the gangs of a class. Cost: O(cells + gangs).
lp::LinearExpression seniority_level(const FormulationInput& input, const GangColumns& columns,
                                     lp::ModelBuilder& model);

// Cost of each: O(configurations x demand classes of each).
std::optional<lp::LinearExpression> whole_nodes_level(const FormulationInput& input, const SupplyRows& supply);
std::optional<lp::LinearExpression> cpu_on_gpu_nodes_level(const FormulationInput& input, const SupplyRows& supply);
std::optional<lp::LinearExpression> last_level(const FormulationInput& input, const SupplyRows& supply);
// On nodes: terms met, soft taints, nominated nodes. Of groups: in one domain of their preferred level, which adds
// columns and rows. Scale 100.
std::optional<lp::LinearExpression> preference_level(const FormulationInput& input, const SupplyRows& supply,
                                                     TopologyRows& topology);

}  // namespace muster::formulation
