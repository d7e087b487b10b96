// Column generation: a formulation of what may be placed (and who may leave) beside a state, its LP relaxation solved
// over the configurations found so far, and more of them priced until none is worth its node.
//
// Sources: Gilmore and Gomory (1961) for columns by pricing; Farley (1990) for a bound at every round, here taken from
// the row prices alone, so that it holds whatever the LP's tolerances are (Neumaier and Shcherbina 2004).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/eviction_rules.h"
#include "model/fair_share.h"
#include "solver/backend.h"
#include "solver/column_pool.h"
#include "solver/deadline.h"
#include "solver/demand.h"
#include "solver/formulation.h"
#include "solver/room.h"

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
  // Row prices of the best limit so far, or such as are a good start (see solver/aggregate.h); those of another number
  // of rows are old, and are not looked at.
  std::vector<double> center;

 private:
  const Setting& setting_;
};

struct PricingTask {
  const LinearExpression& expression;
  int sign;  // 1: maximised, -1: minimised
  Deadline deadline;
  int most_rounds;
  std::int32_t threads = 1;
};

struct Priced {
  double limit = kInfinity;  // of sign x expression, without its constant; infinity: none was reached
  std::vector<double> x;     // the LP's last solution; empty: none
  double value = 0;          // of it, likewise
  std::string defect;        // a worker that broke before its time was up
};

// An upper bound of the LP over all columns from the prices of its rows: a solution is worth no more than the rows'
// sides at their prices, what each other column gains beyond its price, and what pricing says of the configurations
// (whose part is not in it). Prices with the wrong sign for a row without that side are made none.
double bound_of_prices(const Milp& milp, const std::vector<bool>& is_configuration, std::vector<double>& price);

// Stabilisation: prices of which a part is that of the best ones known swing less than the master's (Wentges 1997).
std::vector<double> between(const std::vector<double>& center, const std::vector<double>& master, double part);

// Prices at `center` first, if there is one.
Priced price_columns(Subproblem& sub, const PricingTask& task, Backend& backend);

// The same with gangs that the relaxation admits in part admitted whole or not at all, one after the other: a better
// limit where gangs are large. `known`: what a plan is known to reach of sign x expression; branches that cannot pass
// it are closed. Cost: at most `kMostBranches` column generations, each starting with all columns found before.
// `on_solution` sees the LP's solution of each branch, in which more gangs are whole than before.
double branch_on_gangs(Subproblem& sub, const PricingTask& task, const Priced& whole, double known, Backend& backend,
                       const std::function<void(const std::vector<double>&)>& on_solution);

}  // namespace muster
