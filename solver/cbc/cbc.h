// CBC and CLP behind plain data: the only use of the Coin libraries. For worker processes, one solve at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "solver/cbc/search_record.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

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
