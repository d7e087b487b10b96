// Chooses which gangs are placed, evicted and kept, level by level down to `evicted`, before any of them gets a place.
//
// With moves that are free, nothing above the level `moved` depends on where any pod is: the model has no nodes, but
// the rules of queues and evictions, and supply as sums (solver/choice/sum_rows.h). It is small where the model of
// places is not, and each bound that it proves is one of all plans. Where moves are limited or forbidden, what it
// chooses may have no places; its bounds hold all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/require.h"
#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/problem/problem.h"
#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/choice/incumbent.h"
#include "solver/choice/sum_rows.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/residual_class.h"

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
};

// A plan to begin with; and one that has been found elsewhere since the last time, which is taken if it is better.
struct ChoiceStart {
  const Plan& plan;
  std::function<std::optional<Candidate>()> newer = {};  // may be empty
};

struct Choice {
  std::vector<ChosenLevel> levels;  // the first ones, in the order of level_ids; without a solution none
  std::optional<formulation::FormulationSolution> solution;  // has no configurations
  std::vector<formulation::FormulationSolution> earlier;     // some before it, for want of places of the best one
  std::vector<Incumbent::Improvement> improvements;          // in their order
  std::vector<std::string> defects;                          // workers that failed
};

class ChoiceModel {
 public:
  // `threads`: with more than one, CBC is asked two questions at the same time, so that the result depends on their
  // speed.
  explicit ChoiceModel(const ChoiceInput& input, int threads = 1) : in_(input), threads_(threads) {}
  ChoiceModel(const ChoiceModel&) = delete;
  ChoiceModel& operator=(const ChoiceModel&) = delete;

  // False if it takes longer than the deadline, or if the supply cannot be pooled (collect_pooled_supply).
  bool formulate(const Deadline& deadline);

  // Solves the levels up to `evicted` (solver/choice/improvement.h). `trivial`: trivial_bounds of the problem.
  // Requires formulate(), once.
  Choice choose(const std::vector<std::int64_t>& trivial, const ChoiceStart& start, const Deadline& deadline,
                cbc::Backend& backend);

  // Requires formulate().
  const formulation::Formulation& formulation() const {
    MUSTER_REQUIRE(formulation_.has_value());
    return *formulation_;
  }

 private:
  void build(const Deadline& deadline);
  void add_level(std::size_t index);
  using Decisions = std::vector<std::pair<std::int32_t, std::int64_t>>;
  Decisions decisions_of(const Plan& plan, bool with_places) const;
  static lp::Milp with(lp::Milp model, const Decisions& decisions);
  void start_with(const Decisions& decisions, const Deadline& deadline, cbc::Backend& backend, Incumbent& incumbent,
                  std::vector<std::string>& defects) const;
  void improve(Incumbent& incumbent, const ChoiceStart& start, const Deadline& deadline, cbc::Backend& backend,
               std::vector<std::string>& defects) const;

  ChoiceInput in_;
  std::optional<formulation::Supply> supply_;
  std::optional<formulation::Formulation> formulation_;
  std::optional<SumRows> sums_;
  std::vector<ModelLevel> levels_;
  std::int32_t first_of_levels_ = 0;  // the first column that only a level has
  int threads_ = 1;
};

}  // namespace muster::choice
