// What a branch and cut has found and proven so far: its listener hears of it, and the answer has it at the end.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "solver/cbc/worker_protocol.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

// Called with each better solution of the given model, and the bound so far; x is feasible and integral. Called without
// x if only the bound has changed, at most some hundred times a second.
using IncumbentListener = std::function<void(const MilpAnswer& incumbent)>;

// Solutions count where they satisfy every row to within 1e-6. Bounds are raised by what a solver's tolerances may have
// cost them, and rounded down where every objective is an integer.
class SearchRecord {
 public:
  // All three outlive the object.
  SearchRecord(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener);

  bool has_bound() const { return bound_ < lp::kInfinity; }
  // What the request's start has; -infinity without one.
  double start_objective() const;

  // A bound as the solver reports it, of the maximum.
  void tighten(double bound);
  // Tells the bound, if it has changed and the last telling was some milliseconds ago.
  void tell_bound();
  // Takes x if it is feasible once its integers are rounded, and better. Tells it.
  void offer(std::vector<double> x);
  // Whether the best solution is the one that the solver claims, by its objective. Integers count as different at any
  // size.
  bool has_claimed(double claimed) const;
  void set_start_used() { best_.start_was_used = true; }

  // The answers at the end. `claimed`: the objective of the solver's solution, of which the point may be lost on its
  // way back to the given model; -infinity: none.
  MilpAnswer stopped(double claimed);
  // `has_stopped_on_gap`: the solver ended because its solution is within the gap asked for.
  MilpAnswer finished(double claimed, bool has_stopped_on_gap);
  MilpAnswer unbounded();

 private:
  double proven() const;
  // A node that is not of interest counts as excluded, so no bound lies below it.
  double floor_of_interest() const;

  const lp::Milp& milp_;
  const MilpRequest& request_;
  const IncumbentListener& listener_;
  const bool integral_objective_;
  double bound_ = lp::kInfinity;  // as reported, without margin
  bool has_news_ = false;         // of the bound
  std::chrono::steady_clock::time_point next_telling_;
  MilpAnswer best_;
};

// Whether every feasible point's objective is an integer, so that a bound may be rounded down.
bool has_integral_objective(const lp::Milp& milp);

// The point with its integers rounded: solvers give them with an error. It has a value for each column, NaN if unknown.
std::vector<double> with_rounded_integers(const lp::Milp& milp, std::vector<double> x);

// A bound raised by what a solver's tolerances may have cost it.
double with_margin(double bound);

}  // namespace muster::cbc
