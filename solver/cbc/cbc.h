// CBC and CLP behind plain data: the only use of the Coin libraries. For worker processes, one solve at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "solver/cbc/backend.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

// Called with each better solution of the given model, and the bound so far; x is feasible and integral. Called without
// x if only the bound has changed, at most some hundred times a second.
using IncumbentListener = std::function<void(const MilpAnswer& incumbent)>;

// Solves by branch and cut, or the relaxation alone if the request asks for it. Tries to finish by `request.deadline`,
// without a guarantee: CBC does not check the clock everywhere. Requires a model with columns. Not reentrant, not
// thread-safe (CBC keeps its parameters in globals). May throw std::bad_alloc and what CBC throws (CoinError).
MilpAnswer solve_with_cbc(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener);

// A persistent LP: grows by columns, starts each time from its last basis.
class GrowingLp {
 public:
  explicit GrowingLp(const lp::Milp& milp);
  ~GrowingLp();
  GrowingLp(const GrowingLp&) = delete;
  GrowingLp& operator=(const GrowingLp&) = delete;

  void extend(const lp::Milp& more_columns);  // its entries name the rows of the LP
  std::int32_t rows() const;
  MilpAnswer solve(const MilpRequest& request);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// What the integer columns of a model say of its objective and of its points.
//
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

// CBC's preprocessing (2.10.8, Cgl 0.60.3) draws wrong conclusions from equations of integers with a coefficient of 2
// or more, such as 2 z = x + y: models of a dozen columns lost their optimum, one of 25,000. Written in halves,
// z = x / 2 + y / 2, they did not. A factor for each row.
inline std::vector<double> factors_of_rows(const lp::Milp& milp) {
  constexpr double kHalf = 0.5;
  std::vector<double> factors(milp.row_lower.size(), 1.0);
  for (std::size_t i = 0; i < milp.entry_row.size(); ++i) {
    const auto row = static_cast<std::size_t>(milp.entry_row[i]);
    if (std::abs(milp.entry_value[i]) >= 2 && milp.row_lower[row] == milp.row_upper[row]) factors[row] = kHalf;
  }
  return factors;
}

}  // namespace muster::cbc
