// The formulation of a tiny problem with all its configurations, and a solution of it as a plan.
#pragma once

#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "heuristics/state/plan_of.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "random_cluster.h"
#include "solver/cbc/backend.h"
#include "solver/column_generation/column_pool.h"
#include "solver/formulation/decode.h"
#include "solver/formulation/formulation.h"

namespace muster::test {

struct ExactFormulation {
  static constexpr std::size_t kMostConfigurations = 3000;  // more would make its models no matter of milliseconds

  // `may_leave`: running pods may leave as the policy allows; else all running pods stay.
  explicit ExactFormulation(const Case& cluster, bool may_leave = true)
      : problem(cluster.problem()),
        shares(cluster.shares()),
        ids(level_ids(problem)),
        before(problem, ClusterState::Releasing::kFreed),
        rules(problem, shares, before),
        candidates(may_leave ? formulation::find_candidates(problem, rules, before)
                             : formulation::no_candidates(problem)),
        demand(formulation::collect_demand(problem, candidates, before)),
        base(without_candidates()),
        zones(formulation::collect_placement_zones(problem, demand)),
        supply(formulation::collect_supply(problem, demand, zones, base)),
        anti_affinity(problem, base),
        configuration_input{problem, demand, anti_affinity},
        pool(configuration_input, supply),
        bounds(queue_bounds(problem, before)),
        is_listed(pool.list_all({kMostConfigurations, kMostConfigurations}).has_value()),
        formulation({problem, shares, demand, zones, supply, anti_affinity, rules, before, base, true}) {
    for (formulation::ResidualClassIndex residual : supply.residuals.indices())
      for (const formulation::Configuration& configuration : pool.configurations()[residual])
        formulation.add_configuration(residual, configuration);
  }

  // maximise sign x the level, its coefficients divided by what they have in common.
  lp::Milp model_of(const LevelId& id, lp::LinearExpression expression) const {
    std::int64_t divisor = 0;
    for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
    for (auto& [column, coefficient] : expression.terms) coefficient /= divisor;
    return formulation.model().build(expression, is_maximised(id.kind) ? 1 : -1);
  }

  struct Decoded {
    Plan plan;
    Levels levels;
    std::int64_t missed = 0;  // pods of the solution that found no place
  };
  Decoded decoded(const std::vector<double>& x) const {
    ClusterState state = base;
    Decoded result;
    const muster::formulation::Decoded decoded =
        formulation::decode({problem, demand, zones, supply, bounds, pool.configurations(), formulation.channels()},
                            formulation.read(x), state);
    result.missed = decoded.missed;
    result.plan = plan_of(problem, state, decoded.evictions);
    result.levels = evaluate(problem, shares, result.plan);
    return result;
  }

  ClusterState without_candidates() const {
    ClusterState state = before;
    formulation::remove_candidates(demand, state);
    return state;
  }

  const Problem& problem;
  const FairShares& shares;
  std::vector<LevelId> ids;
  ClusterState before;
  preemption::EvictionRules rules;
  formulation::EvictionCandidates candidates;
  formulation::Demand demand;
  ClusterState base;
  formulation::PlacementZones zones;
  formulation::Supply supply;
  formulation::AntiAffinityRules anti_affinity;
  formulation::ConfigurationInput configuration_input;
  column_generation::ColumnPool pool;
  QueueBounds bounds;
  bool is_listed;
  formulation::Formulation formulation;
};

inline cbc::MilpAnswer solve_exactly(cbc::Backend& backend, const lp::Milp& milp) {
  cbc::MilpRequest request;
  request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  return backend.solve(milp, request);
}

}  // namespace muster::test
