// A level of a cluster whose nodes nearly all differ: too many for a master with a row for each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/column_generation/block_generation.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/multiplier_grid.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/formulation/formulation.h"

namespace muster::engine {

// All of it outlives the stage. The deadline of the options may change between two calls.
struct BlockInput {
  column_generation::RestrictedMaster& whole;
  cbc::Backend& backend;
  const MilpEngineOptions& options;
  std::function<void(const formulation::FormulationSolution&)> take;  // makes a plan of a solution
  std::function<Deadline::Clock::duration()> slowest_take;            // so far
};

// First on grids of multipliers, for good prices and a good plan soon; then with the configurations of all residual
// classes, making plans on the way. What it has found for one level helps with the next.
class BlockStage {
 public:
  explicit BlockStage(BlockInput input) : in_(std::move(input)) {}

  // Receives each dual bound; true: the incumbent is near it.
  using OnBound = std::function<bool(double)>;
  // `asked`: by DemandIndex, pods that fit by sums at the stability center; empty: not known. Returns defects of the
  // worker. Cost: the time that the options leave.
  std::vector<std::string> improve(const lp::LinearExpression& expression, int sign, const std::vector<double>& asked,
                                   const OnBound& on_bound);

 private:
  using Clock = Deadline::Clock;

  bool improve_on_grids(column_generation::PricingTask task, const std::vector<double>& asked, const OnBound& on_bound);
  void improve_by_blocks(column_generation::PricingTask task, const OnBound& on_bound);
  void take_fill(column_generation::PricingTask task, const std::vector<double>& asked);
  void take_blocks(const column_generation::Priced& now);
  bool has_time_for(Clock::duration more = {}) const;
  Deadline until_kept(double part, Clock::duration kept) const;

  BlockInput in_;
  column_generation::Blocks blocks_;
  std::vector<column_generation::MultiplierGrid> grids_;
  Clock::duration slowest_opening_{};  // so far: blocks until the first solution
  double taken_ = 0;                   // value of the solution that the last plan of this level was made of
  std::vector<std::string> defects_;
};

}  // namespace muster::engine
