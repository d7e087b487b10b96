// What may be placed beside a state, and which pods may leave for it, as a formulation with the columns found so far.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/fair_share.h"
#include "solver/budget/deadline.h"
#include "solver/column_generation/column_pool.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/residual_class.h"

namespace muster::column_generation {

inline ClusterState without_candidates(const formulation::Demand& demand, ClusterState state) {
  formulation::remove_candidates(demand, state);
  return state;
}

// What outlives the subproblems.
struct Setting {
  const Problem& problem;
  const FairShares& shares;
  const preemption::EvictionRules& rules;
};

// What may still be placed beside a state, and which pods may leave for it, as a formulation with its columns.
struct RestrictedMaster {
  // `deadline`: if it passes first, the supply is not complete, and nothing may be formulated.
  RestrictedMaster(const Setting& setting, const ClusterState& state, const formulation::EvictionCandidates& candidates,
                   const Deadline* deadline = nullptr)
      : RestrictedMaster(setting, state, formulation::collect_demand(setting.problem, candidates, state), deadline) {}
  RestrictedMaster(const Setting& setting, const ClusterState& state, formulation::Demand collected,
                   const Deadline* deadline = nullptr)
      : before(state),
        demand(std::move(collected)),
        base(without_candidates(demand, state)),
        zones(formulation::collect_placement_zones(setting.problem, demand)),
        supply(formulation::collect_supply(setting.problem, demand, zones, base, deadline)),
        anti_affinity(setting.problem, base),
        displacers(setting.problem, demand, setting.rules, before),
        configuration_input{setting.problem, demand, anti_affinity, &displacers},
        pool(configuration_input, supply),
        setting_(setting) {}
  RestrictedMaster(const RestrictedMaster&) = delete;
  RestrictedMaster& operator=(const RestrictedMaster&) = delete;

  // False, and no formulation, where the deadline passes before it is built.
  bool formulate(bool exact, const Deadline& deadline) {
    try {
      formulation.emplace(formulation::FormulationInput{setting_.problem, setting_.shares, demand, zones, supply,
                                                        anti_affinity, setting_.rules, before, base, exact, deadline});
      columns.assign(supply.residuals.size(), 0);
      add_new_columns();
    } catch (const lp::ModelTooLong&) {
      formulation.reset();
      return false;
    }
    formulation->model().end_timed();
    return true;
  }

  // Gives every configuration of the pool that has none yet its column.
  void add_new_columns() {
    for (formulation::ResidualClassIndex residual : supply.residuals.indices()) add_new_columns(residual);
  }
  void add_new_columns(formulation::ResidualClassIndex residual) {
    const std::vector<formulation::Configuration>& all = pool.configurations()[residual];
    for (std::size_t& j = columns[residual.value()]; j < all.size(); ++j)
      formulation->add_configuration(residual, all[j]);
  }

  ClusterState before;  // the state as it was given
  formulation::Demand demand;
  ClusterState base;  // the same without those that may leave
  formulation::PlacementZones zones;
  formulation::Supply supply;
  formulation::AntiAffinityRules anti_affinity;
  formulation::Displacers displacers;
  formulation::ConfigurationInput configuration_input;
  ColumnPool pool;
  std::optional<formulation::Formulation> formulation;
  std::vector<std::size_t> columns;  // by residual class: configurations that have a column
  // Row prices of the best bound so far, or such as are a good start (see solver/column_generation/aggregate.h). Prices
  // of another number of rows are old and ignored.
  std::vector<double> stability_center;

 private:
  const Setting& setting_;
};

}  // namespace muster::column_generation
