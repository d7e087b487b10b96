#include "solver/cbc/search_record.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::cbc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFeasibility = 1e-6;
// CBC drops a node whose LP value is within 1e-5 of the incumbent, HiGHS one within 1e-6, and the LP values themselves
// carry the simplex's tolerances: a bound is raised by this much before it counts as proven.
constexpr double kBoundMargin = 2e-5;
constexpr double kRelativeBoundMargin = 1e-9;
constexpr double kHalfUnit = 0.5;
constexpr std::chrono::milliseconds kBetweenBounds{5};

}  // namespace

double with_margin(double bound) { return bound + kBoundMargin + kRelativeBoundMargin * std::abs(bound); }

bool has_integral_objective(const lp::Milp& milp) {
  for (std::size_t column = 0; column < milp.objective.size(); ++column) {
    const double coefficient = milp.objective[column];
    if (coefficient == 0) continue;
    if (milp.is_integer[column] == 0 || coefficient != std::floor(coefficient)) return false;
  }
  return true;
}

std::vector<double> with_rounded_integers(const lp::Milp& milp, std::vector<double> x) {
  for (std::size_t column = 0; column < x.size(); ++column)
    if (milp.is_integer[column] != 0) x[column] = std::round(x[column]);
  return x;
}

SearchRecord::SearchRecord(const lp::Milp& milp, const MilpRequest& request, const IncumbentListener& listener)
    : milp_(milp), request_(request), listener_(listener), integral_objective_(has_integral_objective(milp)) {}

double SearchRecord::start_objective() const {
  return request_.start.empty() ? -lp::kInfinity : lp::objective_value(milp_, request_.start);
}

double SearchRecord::floor_of_interest() const { return std::max(request_.cutoff, start_objective()); }

void SearchRecord::tighten(double bound) {
  if (!(bound < bound_) || bound >= 1e30) return;
  bound_ = bound;
  has_news_ = true;
}

void SearchRecord::tell_bound() {
  if (!has_news_ || Clock::now() < next_telling_) return;
  has_news_ = false;
  next_telling_ = Clock::now() + kBetweenBounds;
  MilpAnswer news;
  news.bound = proven();
  if (listener_) listener_(news);
}

void SearchRecord::offer(std::vector<double> x) {
  x = with_rounded_integers(milp_, std::move(x));
  if (!lp::is_feasible(milp_, x, kFeasibility)) return;
  const double objective = lp::objective_value(milp_, x);
  if (!best_.x.empty() && objective <= best_.objective) return;
  best_.x = std::move(x);
  best_.objective = objective;
  best_.status = SolveStatus::kFeasible;
  best_.bound = proven();
  if (listener_) listener_(best_);
}

double SearchRecord::proven() const {
  if (!has_bound()) return lp::kInfinity;
  double result =
      with_margin(std::max({bound_, floor_of_interest(), best_.x.empty() ? -lp::kInfinity : best_.objective}));
  if (integral_objective_) result = std::max(std::floor(result), floor_of_interest());
  return result;
}

bool SearchRecord::has_claimed(double claimed) const {
  const double margin = integral_objective_ ? kHalfUnit : kFeasibility * std::max(1.0, std::abs(claimed));
  return !best_.x.empty() && best_.objective >= claimed - margin;
}

MilpAnswer SearchRecord::unbounded() {
  best_.status = SolveStatus::kUnbounded;
  best_.bound = lp::kInfinity;
  return std::move(best_);
}

MilpAnswer SearchRecord::stopped(double claimed) {
  best_.bound = std::max(proven(), claimed);
  best_.status = best_.x.empty() ? SolveStatus::kNoSolution : SolveStatus::kFeasible;
  return std::move(best_);
}

MilpAnswer SearchRecord::finished(double claimed, bool has_stopped_on_gap) {
  if (claimed == -lp::kInfinity && best_.x.empty()) {
    best_.status = SolveStatus::kInfeasible;
    best_.bound = request_.cutoff;
    return std::move(best_);
  }
  if (!has_claimed(claimed)) return stopped(claimed);
  best_.bound = std::max(proven(), claimed);
  best_.status = SolveStatus::kOptimal;
  if (has_stopped_on_gap) return std::move(best_);
  best_.bound = std::max(integral_objective_ ? best_.objective : with_margin(best_.objective), request_.cutoff);
  return std::move(best_);
}

}  // namespace muster::cbc
