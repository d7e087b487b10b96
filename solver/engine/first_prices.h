// The prices that column generation begins a level with: those of the last cycle, or those of sums; and their keeping
// for the next cycle.
#pragma once

#include <vector>

#include "solver/cbc/backend.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/engine/milp_engine_options.h"

namespace muster::engine {

class FirstPrices {
 public:
  // All outlive the object.
  FirstPrices(const Problem& problem, column_generation::RestrictedMaster& whole, cbc::Backend& backend,
              const MilpEngineOptions& options)
      : problem_(problem), whole_(whole), backend_(backend), options_(options) {}

  // Sets the master's stability center, if it has none for its rows. `divisor`: of the level's coefficients. Cost: that
  // of an LP of sums, at most the task's time.
  void find(const LevelId& id, const column_generation::PricingTask& task, double divisor);
  // Keeps the stability center for the next cycle.
  void remember(const LevelId& id, double divisor) const;

  // By DemandIndex: pods that fit by sums; empty: not known.
  const std::vector<double>& asked() const { return asked_; }

 private:
  bool has_center() const;

  const Problem& problem_;
  column_generation::RestrictedMaster& whole_;
  cbc::Backend& backend_;
  const MilpEngineOptions& options_;
  std::vector<double> asked_;
};

}  // namespace muster::engine
