// What may be placed beside a state, and who may leave for it, as a formulation with the columns found so far.
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
#include "solver/formulation/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/formulation/room.h"

namespace muster {

inline ClusterState without_leavers(const Demand& demand, ClusterState state) {
  remove_leavers(demand, state);
  return state;
}

// What outlives the subproblems.
struct Setting {
  const Problem& problem;
  const FairShares& shares;
  const EvictionRules& rules;
};

// What may still be placed beside a state, on nodes that are not reserved, and who may leave for it, as a formulation
// with its columns.
struct Subproblem {
  Subproblem(const Setting& setting, const ClusterState& state, const Leavers& leavers,
             const std::vector<bool>& reserved)
      : Subproblem(setting, state, collect_demand(setting.problem, leavers, state), reserved) {}
  Subproblem(const Setting& setting, const ClusterState& state, Demand collected, const std::vector<bool>& reserved)
      : before(state),
        demand(std::move(collected)),
        base(without_leavers(demand, state)),
        atoms(collect_atoms(setting.problem, demand)),
        supply(collect_supply(setting.problem, demand, atoms, base, reserved)),
        anti_affinity(setting.problem, base),
        configuration_input{setting.problem, demand, anti_affinity},
        pool(configuration_input, supply),
        setting_(setting) {}
  Subproblem(const Subproblem&) = delete;
  Subproblem& operator=(const Subproblem&) = delete;

  // False, and no formulation, where the deadline passes before it is built.
  bool formulate(bool exact, const Deadline& deadline) {
    try {
      formulation.emplace(FormulationInput{setting_.problem, setting_.shares, demand, atoms, supply, anti_affinity,
                                           setting_.rules, before, base, exact, deadline});
      columns.assign(supply.rooms.size(), 0);
      add_new_columns();
    } catch (const ModelTooLong&) {
      formulation.reset();
      return false;
    }
    formulation->model().end_timed();
    return true;
  }

  // Gives every configuration of the pool that has none yet its column.
  void add_new_columns() {
    for (RoomClassIndex room : supply.rooms.indices()) add_new_columns(room);
  }
  void add_new_columns(RoomClassIndex room) {
    const std::vector<Configuration>& all = pool.configurations()[room];
    for (std::size_t& j = columns[room.value()]; j < all.size(); ++j) formulation->add_configuration(room, all[j]);
  }

  ClusterState before;  // the state as it was given
  Demand demand;
  ClusterState base;  // the same without those that may leave
  Atoms atoms;
  Supply supply;
  AntiAffinityRules anti_affinity;
  ConfigurationInput configuration_input;
  ColumnPool pool;
  std::optional<Formulation> formulation;
  std::vector<std::size_t> columns;  // by room class: configurations that have a column
  // Row prices of the best limit so far, or such as are a good start (see solver/column_generation/aggregate.h); those
  // of another number
  // of rows are old, and are not looked at.
  std::vector<double> center;

 private:
  const Setting& setting_;
};

}  // namespace muster
