// Makes plans of solutions of the model, and offers them.
#pragma once

#include <functional>
#include <vector>

#include "heuristics/state/fit.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/engine/offers.h"
#include "solver/engine/repair.h"
#include "solver/supply/configuration.h"

namespace muster::engine {

class SolutionPlans {
 public:
  using Configurations = Indexed<formulation::ResidualClassIndex, std::vector<formulation::Configuration>>;

  // What offers() is given beside plans; all of it outlives the object.
  struct Input {
    const column_generation::Setting& setting;
    const column_generation::RestrictedMaster& whole;
    const std::vector<LevelId>& ids;
    const MilpEngineOptions& options;
    bool may_leave = false;
  };

  // `on_better`: see Offers.
  SolutionPlans(const Input& input, std::function<void()> on_better, MilpOutcome& outcome);

  // Binds what the solution places: one after another in some order that affinity and spread permit, if there is one.
  // `is_whole`: see Offers::offer. Requires that the master is formulated. Cost: O(pods x nodes) and that of Offers.
  void take(const formulation::FormulationSolution& solution, const Configurations& configurations, bool is_whole);

  Deadline::Clock::duration slowest() const { return slowest_; }  // call of take() so far

 private:
  struct Decoded {
    ClusterState state;
    std::vector<PlannedEviction> evictions;
  };
  Decoded decoded(const formulation::FormulationSolution& solution, const Configurations& configurations,
                  bool in_some_order) const;

  Input in_;
  QueueBounds bounds_;
  Repair repair_;
  Offers offers_;
  Deadline::Clock::duration slowest_{};
};

}  // namespace muster::engine
