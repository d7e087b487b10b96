// Determines which linear expressions are the same level.
#pragma once

#include <cstdint>
#include <map>

#include "solver/lp/model_builder.h"

namespace muster::formulation {

// The terms of an expression, summed up by column: the same terms mean the same level except for a constant.
using Terms = std::map<std::int32_t, std::int64_t>;
inline Terms terms_of(const lp::LinearExpression& expression) {
  Terms terms;
  for (const auto& [column, coefficient] : expression.terms)
    if ((terms[column] += coefficient) == 0) terms.erase(column);
  return terms;
}

}  // namespace muster::formulation
