#include "solver/cells/bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/base/require.h"
#include "model/base/tuning.h"
#include "model/objective/level_bounds.h"
#include "solver/budget/deadline.h"
#include "solver/cbc/backend.h"
#include "solver/column_generation/aggregate.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/grid_generation.h"
#include "solver/column_generation/grids.h"
#include "solver/engine/choice_stage.h"
#include "solver/engine/preparation.h"
#include "solver/lp/sum_bounds.h"

namespace muster::cells {
namespace {

using column_generation::PricingTask, column_generation::RestrictedMaster;

// The whole cluster as a model, for bounds that sums do not give.
class WholeProof {
 public:
  WholeProof(const Problem& problem, const FairShares& shares, const ProofOptions& options)
      : problem_(problem),
        options_(options),
        deadline_(options.until, false),
        preparation_(problem, shares, deadline_),
        backend_(options.worker_program) {}

  bool is_ready() const { return !preparation_.took_too_long; }
  bool may_leave() const { return preparation_.candidates.any; }

  // Requires is_ready(), and that pods may leave.
  engine::MilpOutcome choose(const Candidate& plan, const std::vector<std::int64_t>& trivial) {
    const engine::MilpEngineOptions options{.deadline = deadline_, .threads = options_.threads, .trivial = trivial};
    return engine::outcome_for(plan, engine::choose_and_place(preparation_, plan, backend_, options),
                               level_ids(problem_));
  }

  // Of one level, with those before it held at the plan's values. None: no better bound than `known` was found.
  // Requires is_ready(), and that no pod may leave.
  std::optional<std::int64_t> bound(const Levels& levels, std::size_t level, std::int64_t known,
                                    std::vector<std::string>& defects) {
    MUSTER_REQUIRE(is_ready() && !may_leave());
    RestrictedMaster& whole = preparation_.whole;
    const bool has_grids = whole.supply.residuals.size() > kTuning.size.many_kinds;
    if (!whole.formulation && !whole.formulate(false, deadline_)) return std::nullopt;
    const std::vector<LevelId> ids = level_ids(problem_);
    for (std::size_t i = 0; i < level; ++i)
      if (const auto before = whole.formulation->level(ids[i]); before && !before->terms.empty())
        whole.formulation->hold(ids[i], *before, levels.values[i]);
    const std::optional<lp::LinearExpression> expression = whole.formulation->level(ids[level]);
    if (!expression || expression->terms.empty()) return std::nullopt;
    return limit_of(*expression, is_maximised(ids[level].kind) ? 1 : -1, known, has_grids, defects);
  }

 private:
  std::optional<std::int64_t> limit_of(const lp::LinearExpression& expression, int sign, std::int64_t known,
                                       bool has_grids, std::vector<std::string>& defects) {
    RestrictedMaster& whole = preparation_.whole;
    lp::LinearExpression scaled = expression;
    std::int64_t divisor = 0;
    for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
    divisor = std::max<std::int64_t>(1, divisor);
    for (auto& [column, coefficient] : scaled.terms) coefficient /= divisor;
    const PricingTask task{scaled, sign, deadline_, options_.threads};
    whole.stability_center = column_generation::aggregate_prices(whole, task, backend_).price;
    double limit = lp::kInfinity;
    std::string defect;
    if (has_grids) {
      std::vector<column_generation::MultiplierGrid> grids = column_generation::make_grids(whole);
      const column_generation::GridPrices priced = column_generation::price_on_grids(
          whole, grids, task, backend_, [](const column_generation::GridPrices&) { return false; });
      limit = priced.dual_bound;
      defect = priced.defect;
    } else {
      const column_generation::Priced priced = column_generation::price_columns(whole, task, backend_);
      limit = priced.dual_bound;
      defect = priced.defect;
    }
    if (!defect.empty()) defects.push_back(defect);
    const std::optional<std::int64_t> told = lp::whole_bound(limit, divisor, sign, expression.constant);
    return told && sign * *told < sign * known ? told : std::nullopt;
  }

  const Problem& problem_;
  const ProofOptions& options_;
  Deadline deadline_;
  engine::MilpPreparation preparation_;
  cbc::Backend backend_;
};

// Of two bounds of a level that hold, the better one.
std::optional<std::int64_t> tighter(LevelKind kind, std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return is_maximised(kind) ? std::min(*a, *b) : std::max(*a, *b);
}

}  // namespace

ProvenPlan prove(const Problem& problem, const FairShares& shares, Candidate plan, const ProofOptions& options) {
  const std::vector<LevelId> ids = level_ids(problem);
  MUSTER_REQUIRE(plan.levels.values.size() == ids.size());
  const std::vector<std::int64_t> trivial = trivial_bounds(problem, shares);
  const lp::SumBounds sums(problem, shares, trivial);
  ProvenPlan proven{std::move(plan), {}, {}};
  const auto bound_by_sums = [&] {
    proven.bounds = sums.reached(proven.plan.levels);
    sums.tighten(proven.plan.levels, proven.bounds);
    std::size_t open = 0;
    while (open < ids.size() && proven.bounds[open] == proven.plan.levels.values[open]) ++open;
    if (open < ids.size() && !proven.bounds[open]) proven.bounds[open] = trivial[open];
    return open;
  };
  std::size_t open = bound_by_sums();
  if (open < ids.size() && std::chrono::steady_clock::now() < options.until) {
    WholeProof whole(problem, shares, options);
    if (whole.is_ready() && whole.may_leave()) {
      engine::MilpOutcome outcome = whole.choose(proven.plan, trivial);
      proven.plan = std::move(outcome.best);
      proven.defects = std::move(outcome.defects);
      open = bound_by_sums();
      for (std::size_t i = 0; i < ids.size(); ++i)
        proven.bounds[i] = tighter(ids[i].kind, proven.bounds[i], outcome.bounds[i]);
    } else if (whole.is_ready()) {
      const std::int64_t known = *proven.bounds[open];
      proven.bounds[open] = whole.bound(proven.plan.levels, open, known, proven.defects).value_or(known);
    }
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::optional<std::int64_t>& bound = proven.bounds[i];
    const std::int64_t value = proven.plan.levels.values[i];
    if (!bound || (is_maximised(ids[i].kind) ? value <= *bound : value >= *bound)) continue;
    proven.defects.push_back("a bound of the level " + std::string(level_name(ids[i].kind)) +
                             " was refuted by the plan");
    bound.reset();
  }
  return proven;
}

}  // namespace muster::cells
