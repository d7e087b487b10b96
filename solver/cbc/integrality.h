// What the integer columns of a model say of its objective and of its points.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "solver/lp/milp.h"

namespace muster::cbc {

// Whether every feasible point's objective is an integer, so that a bound may be rounded down.
inline bool has_integral_objective(const lp::Milp& milp) {
  for (std::size_t column = 0; column < milp.objective.size(); ++column) {
    const double coefficient = milp.objective[column];
    if (coefficient == 0) continue;
    if (milp.is_integer[column] == 0 || coefficient != std::floor(coefficient)) return false;
  }
  return true;
}

// The point with its integers rounded: CBC gives them with an error. It has a value for each column, NaN if unknown.
inline std::vector<double> with_rounded_integers(const lp::Milp& milp, std::vector<double> x) {
  for (std::size_t column = 0; column < x.size(); ++column)
    if (milp.is_integer[column] != 0) x[column] = std::round(x[column]);
  return x;
}

}  // namespace muster::cbc
