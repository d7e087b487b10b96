// Chooses which gangs are placed, evicted and kept, level by level down to `evicted`, before any of them gets a place.
//
// With moves that are free, nothing above the level `moved` depends on where any pod is: the model has no nodes, but
// the rules of queues and evictions, and supply as sums (solver/choice/sum_rows.h). It is small where the model of
// places is not, and each bound that it proves is one of all plans. Where moves are limited or forbidden, what it
// chooses may have no places; its bounds hold all the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/require.h"
#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/formulation/anti_affinity.h"
#include "solver/formulation/demand.h"
#include "solver/formulation/expression_terms.h"
#include "solver/formulation/formulation.h"
#include "solver/formulation/residual_class.h"

namespace muster::choice {

// All of it outlives the choice.
struct ChoiceInput {
  const Problem& problem;
  const FairShares& shares;
  const preemption::EvictionRules& rules;
  const formulation::Demand& demand;
  const formulation::PlacementZones& zones;
  const formulation::AntiAffinityRules& anti_affinity;
  const ClusterState& before;  // the snapshot as it is
  const ClusterState& base;    // the same without those that may leave
};

// One level: what the choice has, and the bound of all plans that have the chosen values of the levels before.
struct ChosenLevel {
  std::int64_t value = 0;
  std::optional<std::int64_t> bound;
  double milliseconds = 0;
};

struct Choice {
  std::vector<ChosenLevel> levels;  // the first ones, in the order of level_ids; without a solution none
  std::optional<formulation::FormulationSolution> solution;  // has no configurations
  std::vector<std::string> defects;                          // workers that failed
};

class ChoiceModel {
 public:
  // `threads`: with more than one, CBC is asked in two ways at the same time, so that the result depends on their
  // speed.
  explicit ChoiceModel(const ChoiceInput& input, int threads = 1) : in_(input), threads_(threads) {}
  ChoiceModel(const ChoiceModel&) = delete;
  ChoiceModel& operator=(const ChoiceModel&) = delete;

  // False if it takes longer than the deadline, or if the supply cannot be pooled (collect_pooled_supply).
  bool formulate(const Deadline& deadline);

  // Solves the levels up to `evicted`, each with those before it held, in at most a part of the time that is left (the
  // last one in all of it); then again from the first that is open, in equal parts, with one thread each time by the
  // other of CBC's two ways, while there is time and no round comes to what an earlier one has come to. `trivial`:
  // trivial_bounds of the problem. `start`: a plan, for the first solution. Requires formulate().
  Choice choose(const std::vector<std::int64_t>& trivial, const Plan& start, const Deadline& deadline,
                cbc::Backend& backend);

  // Requires formulate().
  const formulation::Formulation& formulation() const {
    MUSTER_REQUIRE(formulation_.has_value());
    return *formulation_;
  }

 private:
  void build(std::optional<Deadline> deadline);
  struct Level {
    std::size_t index = 0;
    lp::LinearExpression expression;
  };
  struct Task;
  void keep(const Level& level, const ChosenLevel& chosen, Choice& choice);
  // False: no solution is known.
  bool solve(const Level& level, std::int64_t trivial, const Deadline& deadline, cbc::Backend& backend, Choice& choice);
  void start_with(const Plan& plan, const Deadline& deadline, cbc::Backend& backend, Choice& choice);
  lp::Milp with_last_level(lp::Milp milp, const Level& level) const;
  std::vector<double> bounds_of(const Level& level, const Task& task, cbc::Backend& backend, Choice& choice);
  void raise(const Task& task, cbc::Backend& backend, Choice& choice);
  cbc::MilpRequest request_of(const Task& task) const;
  void take(const cbc::MilpAnswer& answer, const Task& task, Choice& choice);

  ChoiceInput in_;
  std::optional<formulation::Supply> supply_;
  std::optional<formulation::Formulation> formulation_;
  std::vector<LevelId> ids_;
  std::vector<Level> levels_;
  Deadline::Clock::duration building_{};
  std::int32_t first_of_levels_ = 0;  // the first column that only a level has
  int threads_ = 1;
  bool has_anchored_ = false;                          // pods that may be evicted, but not moved
  bool other_way_ = false;                             // every other time, with one thread
  std::vector<double> x_;                              // the last solution
  std::map<formulation::Terms, std::int64_t> bounds_;  // of levels that are solved, less their constant
};

}  // namespace muster::choice
