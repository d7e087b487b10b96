#include "solver/engine/offers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "heuristics/preemption/reprieve.h"
#include "heuristics/state/plan_of.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/referee/referee.h"

namespace muster::engine {

namespace {

bool is_only_not_in_vain(const referee::Violation& violation) { return violation.rule == referee::Rule::kNotInVain; }

}  // namespace

void Offers::offer(ClusterState state, std::vector<PlannedEviction> evictions, bool is_whole) {
  const Repair& repair = in_.repair;
  if (is_whole) keep_if_best(state, evictions);
  if (in_.may_leave) {
    if (is_whole && is_over()) return;
    if (in_.options.runs("back")) repair.bring_back(state, evictions, in_.options.deadline);
    keep_if_best(state, evictions);
  }
  if ((is_whole || in_.may_leave) && is_over()) return;
  if (in_.options.runs("fill")) repair.fill_up(state, in_.options.deadline);
  if (in_.may_leave) in_.setting.rules.name_claimants(state, evictions);
  keep_if_best(state, evictions);
}

// Evictions obey rules that no single put can check, so the referee checks them here.
void Offers::keep_if_best(const ClusterState& state, const std::vector<PlannedEviction>& evictions) {
  const Deadline::Clock::time_point start = Deadline::Clock::now();
  OrderedPlan made = ordered_plan_of(in_.setting.problem, state, evictions);
  if (!made.unbound.empty()) return;
  Candidate candidate{std::move(made.plan), {}};
  candidate.levels = evaluate(in_.setting.problem, in_.setting.shares, candidate.plan);
  const bool is_kept = keep_if_best(std::move(candidate));
  keeping_ = std::max(keeping_, Deadline::Clock::now() - start);
  if (!is_kept || !in_.may_leave || is_over() || !in_.options.runs("reprieve")) return;
  // The current level determines no victims: the following levels begin with few.
  keep_if_best(preemption::reprieve_victims(in_.setting.problem, in_.setting.shares, outcome_.best,
                                            until(in_.options.parts.relief)));
}

// That share of the time left is over.
StopRequest Offers::until(double share) const {
  if (in_.options.deadline.is_deterministic()) return {};
  return [until = in_.options.deadline.after(share)] { return Deadline::Clock::now() >= until; };
}

bool Offers::is_over() const {
  const std::chrono::duration<double> needed = kTuning.forecast.repeat * keeping_;
  return in_.options.deadline.passed() || in_.options.deadline.left() < needed;
}

bool Offers::keep_if_best(Candidate candidate) {
  if (compare(candidate.levels, outcome_.best.levels, in_.ids) <= 0) return false;
  const Problem& problem = in_.setting.problem;
  const Actions& actions = problem.snapshot->policy.actions;
  const bool evicts = actions.preempt || actions.reclaim || actions.consolidate || actions.stale;
  const bool may_break = evicts || problem.has_ordered_rules();
  if (may_break) {
    const auto violations_of = [&](const Plan& plan) {
      return referee::check_plan(*problem.snapshot, problem, in_.setting.shares, plan, 1, 1);
    };
    std::vector<referee::Violation> found = violations_of(candidate.plan);
    // Models do not know who takes whose room.
    if (!found.empty() && std::ranges::all_of(found, is_only_not_in_vain)) {
      candidate = preemption::settle_rights(problem, in_.setting.shares, candidate.plan, until(kTuning.parts.half));
      if (compare(candidate.levels, outcome_.best.levels, in_.ids) <= 0) return false;
      found = violations_of(candidate.plan);
    }
    if (!found.empty()) {
      for (const referee::Violation& violation : found) ++outcome_.refused[violation.rule];
      return false;
    }
  }
  outcome_.best = std::move(candidate);
  if (!outcome_.improved) outcome_.first_improved = Deadline::Clock::now();
  outcome_.improved = true;
  on_better_();
  return true;
}

}  // namespace muster::engine
