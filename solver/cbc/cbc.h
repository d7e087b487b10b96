// CBC and CLP behind plain data: the only use of the Coin libraries. For worker processes, one solve at a time.
#pragma once

#include <functional>
#include <memory>

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

}  // namespace muster::cbc
