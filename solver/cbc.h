// CBC and CLP behind plain data: the only door to the Coin libraries. For worker processes, one solve at a time.
#pragma once

#include <functional>
#include <memory>

#include "solver/backend.h"
#include "solver/milp.h"

namespace muster {

// Called with each better solution of the given model, the bound so far included; x is feasible and integral. Called
// without x when only the bound is news, at most some hundred times a second.
using IncumbentListener = std::function<void(const MilpAnswer& incumbent)>;

// Solves by branch and cut, or the relaxation alone if the request says so. Tries to be done by `request.deadline`,
// which is only tried: CBC does not look at the clock everywhere. Requires a model with columns. Not reentrant, not
// thread-safe (CBC keeps its parameters in globals). May throw std::bad_alloc and what CBC throws (CoinError).
MilpAnswer solve_with_cbc(const Milp& milp, const MilpRequest& request, const IncumbentListener& listener);

// An LP that stays: grows by columns, starts each time from its last basis.
class GrowingLp {
 public:
  explicit GrowingLp(const Milp& milp);
  ~GrowingLp();
  GrowingLp(const GrowingLp&) = delete;
  GrowingLp& operator=(const GrowingLp&) = delete;

  void extend(const Milp& more_columns);  // its entries name the rows of the LP
  std::int32_t rows() const;
  MilpAnswer solve(const MilpRequest& request);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster
