#include "solver/engine/milp_engine.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/tuning.h"
#include "model/objective/level_bounds.h"
#include "solver/engine/choice_stage.h"
#include "solver/engine/level_solver.h"
#include "solver/engine/milp_passes.h"
#include "solver/formulation/expression_terms.h"
#include "solver/formulation/formulation.h"

namespace muster::engine {
namespace {

using column_generation::RestrictedMaster;
using formulation::EvictionCandidates, formulation::Formulation, lp::LinearExpression;

MilpOutcome outcome_of(const Candidate& incumbent, std::size_t levels) {
  MilpOutcome outcome;
  outcome.best = incumbent;
  outcome.bounds.resize(levels);
  return outcome;
}

class Engine {
 public:
  // `whole`: the problem as a formulation, whose columns become the engine's.
  Engine(const column_generation::Setting& setting, RestrictedMaster& whole, const EvictionCandidates& candidates,
         const Candidate& incumbent, cbc::Backend& backend, const MilpEngineOptions& options)
      : options_(options),
        last_(options.deadline.without_work()),
        ids_(level_ids(setting.problem)),
        candidates_(candidates),
        whole_(whole),
        is_formulated_(whole.formulation.has_value()),
        outcome_(outcome_of(incumbent, ids_.size())),
        solver_({setting, whole_, backend, ids_, options_, candidates.any},
                {[this] { tell(); }, [this](std::size_t level, std::int64_t bound) { tell(level, bound); },
                 [this] { return is_on_path(); }},
                outcome_) {
    if (options_.trivial.empty()) options_.trivial = trivial_bounds(setting.problem, setting.shares);
  }

  MilpOutcome run() {
    const Deadline::Clock::time_point begun = Deadline::Clock::now();
    solver_.begin();
    if (!formulate()) return std::move(outcome_);
    // Approximate time for visiting the remaining levels once the time for solving is up.
    options_.deadline = options_.deadline.earlier_by(Deadline::Clock::now() - begun);
    descend(0, is_whole());
    // If the best path gave no plan, once more along the incumbent's values.
    if (const std::size_t left = levels_on_path(); left < ids_.size() && is_whole() && !options_.deadline.passed()) {
      if (formulate()) descend(left + 1, false);
    }
    if (!candidates_.complete) outcome_.bounds.assign(outcome_.bounds.size(), std::nullopt);
    return std::move(outcome_);
  }

  // How long a way without the list comes before this one.
  Deadline::Clock::duration time_without_list() const { return solver_.time_without_list(); }
  bool is_whole() const { return solver_.is_whole(); }
  bool has_all_nodes() const { return solver_.has_all_nodes(); }
  // A better plan from elsewhere, before the run; its first `proven` levels are proven optimal.
  void start_from(const Candidate& incumbent, std::size_t proven) {
    outcome_.best = incumbent;
    proven_ = proven;
  }

 private:
  std::int64_t value(std::size_t level) const { return outcome_.best.levels.values[level]; }

  // Level after level, each given those before it; those before `first` are fixed at the incumbent's values. The fixed
  // values are the path: the proven optimum if `by_optimum`, even if no plan with it is known yet (one that evicts more
  // than it needs to is no plan, though a later level may make it one), else the incumbent's value. Requires
  // formulate().
  void descend(std::size_t first, bool by_optimum) {
    held_.clear();
    path_.clear();
    solving_ = true;
    by_optimum_ = by_optimum;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      solving_ = solving_ && !options_.deadline.passed();
      if (last_.passed()) break;
      if (i < first)
        path_.push_back(hold_incumbent(i));
      else
        path_.push_back(solve_level(*whole_.formulation, i, options_.trivial[i]));
    }
    // A bound is one given the plan's values before it.
    for (std::size_t i = std::min(levels_on_path() + 1, path_.size()); i < ids_.size(); ++i) outcome_.bounds[i].reset();
  }

  bool formulate() { return solver_.formulate(std::exchange(is_formulated_, false)); }

  std::int64_t hold_incumbent(std::size_t i) {
    if (const auto expression = whole_.formulation->level(ids_[i]); expression && !expression->terms.empty())
      whole_.formulation->hold(ids_[i], *expression, value(i));
    return value(i);
  }

  // For how many levels, from the first on, the incumbent has the path's values.
  std::size_t levels_on_path() const {
    std::size_t i = 0;
    while (i < path_.size() && value(i) == path_[i]) ++i;
    return i;
  }
  bool is_on_path() const { return levels_on_path() == path_.size(); }

  // Proves, improves or skips one level; returns the value at which it is fixed from here on. Once one is left open,
  // the later ones only get the bounds that follow from it.
  std::int64_t solve_level(Formulation& formulation, std::size_t i, std::int64_t trivial) {
    const LevelId id = ids_[i];
    const std::optional<LinearExpression> expression = formulation.level(id);
    if (!expression) return value(i);
    formulation::Terms terms = formulation::terms_of(*expression);
    if (terms.empty()) {  // every solution has the same value, yet the incumbent's may be less
      outcome_.bounds[i] = expression->constant;
      if (is_whole() && solving_ && value(i) != expression->constant) solver_.improve(formulation, i, *expression);
      return by_optimum_ ? expression->constant : value(i);
    }
    if (const auto same = held_.find(terms); same != held_.end()) {
      outcome_.bounds[i] = same->second + expression->constant;
      return by_optimum_ ? *outcome_.bounds[i] : value(i);
    }
    std::optional<std::int64_t> reached;
    outcome_.bounds[i].reset();
    if (is_on_path() && (value(i) == trivial || i < proven_)) {
      outcome_.bounds[i] = value(i);
    } else if (solving_) {
      const LevelSolver::Improvement improvement = solver_.solve(formulation, i, *expression);
      outcome_.bounds[i] = improvement.bound;
      if (by_optimum_) reached = improvement.reached;
    }
    // The incumbent is feasible here while it is on the path.
    const int sign = is_maximised(id.kind) ? 1 : -1;
    if (reached && is_on_path() && sign * *reached < sign * value(i)) reached.reset();
    const std::int64_t held = reached.value_or(value(i));
    if (outcome_.bounds[i])
      held_.emplace(std::move(terms), (by_optimum_ ? held : *outcome_.bounds[i]) - expression->constant);
    tell();
    formulation.hold(id, *expression, held);
    return held;
  }

  // The trace: the plan's values, and the bounds that hold given the values before, that is, on the path so far.
  // `bound`: of `level`, which is being solved.
  void tell(std::size_t level = 0, std::optional<std::int64_t> bound = {}) const {
    if (options_.trace == nullptr) return;
    Tracer::Bounds bounds = outcome_.bounds;
    if (bound) bounds[level] = bound;
    for (std::size_t i = candidates_.complete ? levels_on_path() + 1 : 0; i < bounds.size(); ++i) bounds[i].reset();
    options_.trace->tell(Origin::kMilp, outcome_.best.levels, bounds);
  }

  MilpEngineOptions options_;
  const Deadline last_;  // for the levels that nothing is solved for any more
  std::vector<LevelId> ids_;
  const EvictionCandidates& candidates_;
  RestrictedMaster& whole_;
  std::size_t proven_ = 0;  // levels, from the first on, of the plan that it has started from
  bool is_formulated_;      // as nothing is held yet
  bool solving_ = true, by_optimum_ = false;
  std::vector<std::int64_t> path_;  // what the levels so far are held at
  std::map<formulation::Terms, std::int64_t> held_;
  MilpOutcome outcome_;
  LevelSolver solver_;
};

}  // namespace

MilpOutcome solve_milp(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                       cbc::Backend& backend, const MilpEngineOptions& options) {
  MilpPreparation preparation(problem, shares, options.deadline.part(options.parts.formulating));
  return solve_milp(preparation, incumbent, backend, options);
}

MilpOutcome solve_milp(MilpPreparation& preparation, const Candidate& incumbent, cbc::Backend& backend,
                       const MilpEngineOptions& options, const ChoiceOutcome* choice) {
  const column_generation::Setting& setting = preparation.setting;
  const EvictionCandidates& candidates = preparation.candidates;
  MilpOutcome outcome = outcome_of(incumbent, incumbent.levels.values.size());
  if (preparation.took_too_long) return outcome;
  const std::vector<LevelId> ids = level_ids(setting.problem);
  if (choice != nullptr) {
    outcome = outcome_for(incumbent, *choice, ids);
  } else if (candidates.any && options.runs("choice")) {
    // A model of all nodes finds what a choice cannot place, and gets about half of the time.
    MilpEngineOptions first = options;
    if (WholeModel(setting.problem, preparation.whole, most_node_columns(options)).is_whole())
      first.parts.choosing = first.parts.placing = kTuning.parts.side;
    outcome = outcome_for(incumbent, choose_and_place(preparation, incumbent, backend, first), ids);
    if (options.deadline.passed()) return outcome;
  }
  // Affinity or spread counts the pods that left, on too many nodes for the model (EvictionCandidates::complete), which
  // holds them there: it has no plan as good.
  if (!candidates.any && !incumbent.plan.evictions.empty()) return outcome;
  const auto make_engine = [&](RestrictedMaster& whole, const Candidate& first, const MilpEngineOptions& of_pass) {
    return Engine(setting, whole, candidates, first, backend, of_pass);
  };
  const MilpPasses passes(preparation, make_engine);
  const std::size_t proven = passes.proven_levels(outcome, options.sums);
  MilpEngineOptions rest = options;
  // The levels that the choice proves take most of the time.
  if (candidates.any && proven < ids.size() && ids[proven].kind > LevelKind::kEvicted)
    rest.levels_time = kTuning.parts.side;
  MilpOutcome last = passes.run(preparation.whole, outcome.best, proven, rest);
  add_earlier(outcome, ids, last);
  return last;
}

}  // namespace muster::engine
