// The levels `work` and `seniority`: what runs, by weight and by age.
#pragma once

#include <cstdint>

#include "solver/rows/gang_columns.h"

namespace muster::formulation {

// Of gangs of at least this priority. Cost: O(pods + cells).
lp::LinearExpression work_level(const FormulationInput& input, const GangColumns& columns, std::int32_t priority);
// Adds a column for each age of the gangs of a class. Cost: O(cells + gangs).
lp::LinearExpression seniority_level(const FormulationInput& input, const GangColumns& columns,
                                     lp::ModelBuilder& model);

}  // namespace muster::formulation
