#include "solver/engine/block_stage.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/base/tuning.h"
#include "solver/column_generation/grid_fill.h"
#include "solver/column_generation/grid_generation.h"
#include "solver/column_generation/grids.h"

namespace muster::engine {

using column_generation::GridPrices, column_generation::Priced, column_generation::PricingTask;

namespace {

Deadline::Clock::duration times(double factor, Deadline::Clock::duration time) {
  return std::chrono::duration_cast<Deadline::Clock::duration>(factor * time);
}

}  // namespace

std::vector<std::string> BlockStage::improve(const lp::LinearExpression& expression, int sign,
                                             const std::vector<double>& asked, const OnBound& on_bound) {
  const PricingTask task{expression, sign, in_.options.deadline, in_.options.threads};
  if (!blocks_.blocks.empty() || improve_on_grids(task, asked, on_bound)) improve_by_blocks(task, on_bound);
  return std::exchange(defects_, {});
}

// False: the incumbent is near the bound, or the time is up.
bool BlockStage::improve_on_grids(PricingTask task, const std::vector<double>& asked, const OnBound& on_bound) {
  const MilpEngineOptions& options = in_.options;
  grids_ = column_generation::make_grids(in_.whole);
  const Clock::time_point begun = Clock::now();
  take_fill(task, asked);
  // Ends early enough to leave time for such a plan at the last prices, and a little more.
  task.deadline = until_kept(options.parts.blocks.grids, Clock::now() - begun + in_.slowest_take());
  GridPrices priced = price_on_grids(in_.whole, grids_, task, in_.backend, [&](const GridPrices& now) {
    return on_bound(now.dual_bound) || now.is_of_a_part;
  });
  if (!priced.defect.empty()) defects_.push_back(priced.defect);
  if (on_bound(priced.dual_bound)) return false;
  take_fill(task, priced.asked);
  if (priced.asked.empty() || !in_.options.runs("blocks") || on_bound(priced.dual_bound) || options.deadline.passed())
    return false;
  blocks_ = column_generation::make_blocks(in_.whole, options.most.blocks);
  blocks_.points = std::move(priced.points);
  return true;
}

// A plan at the present prices that places what is asked for, by DemandIndex; empty: it is not known.
void BlockStage::take_fill(PricingTask task, const std::vector<double>& asked) {
  column_generation::RestrictedMaster& whole = in_.whole;
  if (!in_.options.runs("grids") || asked.empty() || whole.stability_center.empty() || !has_time_for()) return;
  task.deadline = in_.options.deadline;
  formulation::FormulationSolution solution =
      whole.formulation->round(whole.formulation->model().build(task.expression, task.sign).upper);
  solution.configurations = column_generation::fill_on_grids(whole, grids_, task, whole.stability_center, asked);
  if (!solution.configurations.empty()) in_.take(solution);
}

void BlockStage::improve_by_blocks(PricingTask task, const OnBound& on_bound) {
  const MilpEngineOptions& options = in_.options;
  // Ends early enough to leave time for a plan of the last solution.
  task.deadline = until_kept(options.parts.blocks.round, times(kTuning.forecast.margin, in_.slowest_take()));
  // Blocks that are reused begin with all their columns, which must not take longer than the time left.
  if (!has_time_for(slowest_opening_)) return;
  taken_ = -lp::kInfinity;
  const Clock::time_point opened = Clock::now();
  Clock::time_point next = opened;  // for a plan
  bool is_open = false;
  const Priced priced = price_blocks(in_.whole, blocks_, grids_, task, in_.backend, [&](const Priced& now) {
    const Clock::time_point start = Clock::now();
    if (!std::exchange(is_open, true)) slowest_opening_ = std::max(slowest_opening_, start - opened);
    if (options.deadline.is_deterministic() || start >= next) {
      take_blocks(now);
      next = Clock::now() + times(1 / options.parts.blocks.plans, Clock::now() - start);
    }
    return on_bound(now.dual_bound);
  });
  if (!priced.defect.empty()) defects_.push_back(priced.defect);
  if (!on_bound(priced.dual_bound)) take_blocks(priced);
}

// A plan of this solution, if it is better than the last one's.
void BlockStage::take_blocks(const Priced& now) {
  if (now.x.empty() || now.value <= taken_ || !has_time_for()) return;
  taken_ = now.value;
  in_.take(column_generation::disaggregate(in_.whole, blocks_, now.x));
}

// For a plan, and what comes before it.
bool BlockStage::has_time_for(Clock::duration more) const {
  return in_.options.deadline.left() >= more + in_.slowest_take();
}

// A part of the time left, or what is left but `kept`, whichever ends first.
Deadline BlockStage::until_kept(double part, Clock::duration kept) const {
  const Deadline& deadline = in_.options.deadline;
  if (deadline.is_deterministic()) return deadline.part(part);
  return Deadline(std::min(deadline.after(part), deadline.end() - kept), false);
}

}  // namespace muster::engine
