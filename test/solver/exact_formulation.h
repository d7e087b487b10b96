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
  explicit ExactFormulation(const Cluster& cluster, bool may_leave = true)
      : problem(cluster.problem),
        shares(cluster.shares),
        ids(level_ids(problem)),
        before(problem, ClusterState::Releasing::kFreed),
        rules(problem, shares, before),
        leavers(may_leave ? find_leavers(problem, rules, before) : no_leavers(problem)),
        demand(collect_demand(problem, leavers, before)),
        base(without_leavers()),
        atoms(collect_atoms(problem, demand)),
        supply(collect_supply(problem, demand, atoms, base, std::vector<bool>(problem.nodes.size(), false))),
        anti_affinity(problem, base),
        configuration_input{problem, demand, anti_affinity},
        pool(configuration_input, supply),
        bounds(queue_bounds(problem, before)),
        is_listed(pool.list_all({kMostConfigurations, kMostConfigurations}).has_value()),
        formulation({problem, shares, demand, atoms, supply, anti_affinity, rules, before, base, true}) {
    for (RoomClassIndex room : supply.rooms.indices())
      for (const Configuration& configuration : pool.configurations()[room])
        formulation.add_configuration(room, configuration);
  }

  // maximise sign x the level, its coefficients divided by what they have in common.
  Milp model_of(const LevelId& id, LinearExpression expression) const {
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
    const muster::Decoded decoded =
        decode({problem, demand, atoms, supply, bounds, pool.configurations(), formulation.channels()},
               formulation.read(x), state);
    result.missed = decoded.missed;
    result.plan = plan_of(problem, state, decoded.evictions);
    result.levels = evaluate(problem, shares, result.plan);
    return result;
  }

  ClusterState without_leavers() const {
    ClusterState state = before;
    remove_leavers(demand, state);
    return state;
  }

  const Problem& problem;
  const FairShares& shares;
  std::vector<LevelId> ids;
  ClusterState before;
  EvictionRules rules;
  Leavers leavers;
  Demand demand;
  ClusterState base;
  Atoms atoms;
  Supply supply;
  AntiAffinityRules anti_affinity;
  ConfigurationInput configuration_input;
  ColumnPool pool;
  QueueBounds bounds;
  bool is_listed;
  Formulation formulation;
};

inline MilpAnswer solve_exactly(Backend& backend, const Milp& milp) {
  MilpRequest request;
  request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  return backend.solve(milp, request);
}

}  // namespace muster::test
