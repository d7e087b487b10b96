#include "solver/engine/milp_engine.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "heuristics/state/fit.h"
#include "heuristics/state/plan_of.h"
#include "model/base/tuning.h"
#include "model/objective/level_bounds.h"
#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/demand.h"
#include "solver/engine/block_stage.h"
#include "solver/engine/choice_stage.h"
#include "solver/engine/first_prices.h"
#include "solver/engine/milp_passes.h"
#include "solver/engine/solution_plans.h"
#include "solver/engine/whole_model.h"
#include "solver/formulation/expression_terms.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/listing_time.h"
#include "solver/supply/residual_class.h"

namespace muster::engine {
namespace {

using column_generation::Priced, column_generation::PricingTask, column_generation::RestrictedMaster;
using formulation::EvictionCandidates, formulation::Formulation, formulation::FormulationSolution, lp::LinearExpression;

// Of a model of all nodes that there is time for.
std::size_t most_node_columns(const MilpEngineOptions& options) {
  if (!options.runs("whole")) return 0;
  if (options.deadline.is_deterministic()) return std::min(options.most.node_columns, kTuning.listing.few);
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(options.deadline.left()).count();
  const double each = options.levels_time * static_cast<double>(kTuning.listing.column_us);
  return std::min(options.most.node_columns, static_cast<std::size_t>(static_cast<double>(left) / each));
}

class Engine {
 public:
  // `whole`: the problem as a formulation, whose columns become the engine's. `settled`: evictions that are already
  // decided and applied to it.
  Engine(const column_generation::Setting& setting, RestrictedMaster& whole, const EvictionCandidates& candidates,
         std::vector<PlannedEviction> settled, const Candidate& incumbent, cbc::Backend& backend,
         const MilpEngineOptions& options)
      : problem_(setting.problem),
        shares_(setting.shares),
        backend_(backend),
        options_(options),
        last_(options.deadline.without_work()),
        ids_(level_ids(setting.problem)),
        candidates_(candidates),
        whole_(whole),
        is_formulated_(whole.formulation.has_value()),
        blocks_({whole_, backend_, options_,
                 [this](const FormulationSolution& solution) { take(solution, whole_.pool.configurations()); },
                 [this] { return plans_.slowest(); }}),
        first_prices_(setting.problem, whole_, backend_, options_),
        plans_(
            {setting, whole_, ids_, options_, candidates.any}, std::move(settled),
            [this] {
              knows_incumbent_ = false;
              tell();
            },
            outcome_) {
    outcome_.best = incumbent;
    outcome_.bounds.resize(ids_.size());
    choose_columns();
  }

  MilpOutcome run() {
    const Deadline::Clock::time_point begun = Deadline::Clock::now();
    if (columns_ == Columns::kPriced) add_known_contents();
    if (!formulate()) return std::move(outcome_);
    // Approximate time for visiting the remaining levels once the time for solving is up.
    options_.deadline = options_.deadline.earlier_by(Deadline::Clock::now() - begun);
    descend(0, is_whole());
    // If the best path gave no plan, once more along the incumbent's values.
    if (const std::size_t left = levels_on_path(); left < ids_.size() && is_whole() && !options_.deadline.passed()) {
      if (formulate()) descend(left + 1, false);
    }
    is_finished_ = columns_ == Columns::kListed || (is_whole() && !options_.deadline.passed());
    if (!candidates_.complete || !plans_.settled().empty())
      outcome_.bounds.assign(outcome_.bounds.size(), std::nullopt);
    return std::move(outcome_);
  }

  // How long a way without the list comes before this one.
  Deadline::Clock::duration time_without_list() const {
    if (!states_ || options_.deadline.is_deterministic()) return {};
    return muster::formulation::time_without_list(*states_, options_.deadline.left());
  }
  // CBC has the last word on it.
  bool is_whole() const { return columns_ != Columns::kPriced; }
  bool has_all_nodes() const { return columns_ == Columns::kAllNodes; }
  // A better plan from elsewhere, before the run; its first `proven` levels are proven optimal.
  void start_from(const Candidate& incumbent, std::size_t proven) {
    outcome_.best = incumbent;
    proven_ = proven;
  }
  // Nothing is left to be found by going over it again.
  bool is_finished() const { return is_finished_; }

 private:
  enum class Columns : std::uint8_t { kListed, kAllNodes, kPriced };
  bool has_blocks() const { return !is_whole() && whole_.supply.residuals.size() > options_.most.residuals; }

  void choose_columns() {
    const Deadline until = options_.deadline.part(options_.parts.listing);
    if (options_.runs("list"))
      states_ = whole_.pool.list_all({most_states(), options_.most.columns, [&] { return until.passed(); }});
    columns_ = Columns::kListed;
    if (states_) return;
    all_nodes_.emplace(problem_, whole_, most_node_columns(options_));
    columns_ = all_nodes_->is_whole() ? Columns::kAllNodes : Columns::kPriced;
  }

  std::size_t most_states() const {
    if (options_.deadline.is_deterministic()) return options_.most.states;
    return std::min(options_.most.states, formulation::most_states_in(options_.deadline.left()));
  }

  // All pods where they are, and the incumbent.
  void add_known_contents() {
    whole_.pool.add_contents(whole_.before, whole_.base);
    ClusterState state = settle_evictions(problem_, outcome_.best.plan).state;
    for (const Placement& placement : outcome_.best.plan.placements)
      if (!state.is_present(placement.pod)) state.put(placement.pod, placement.node, placement.devices);
    whole_.pool.add_contents(state, whole_.base);
    knows_incumbent_ = true;
  }

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
    if (options_.trivial.empty()) options_.trivial = trivial_bounds(problem_, shares_);
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

  // From scratch: no level is fixed. False if that takes so long that there would be no time to solve it.
  bool formulate() {
    const bool is_exact = columns_ == Columns::kListed, is_done = std::exchange(is_formulated_, false) && !is_exact;
    if (!is_done && !whole_.formulate(is_exact, options_.deadline.part(options_.parts.formulating))) return false;
    if (columns_ == Columns::kAllNodes) all_nodes_->add_to(*whole_.formulation);
    return true;
  }

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
      const bool is_settled =
          !plans_.settled().empty() && (is_about_evictions(id.kind) || id.kind == LevelKind::kMoved);
      if (is_whole() && solving_ && !is_settled && value(i) != expression->constant)
        improve(formulation, i, *expression);
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
      const Improvement improvement = improve_while_it_helps(formulation, i, *expression);
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

  bool is_close(std::int64_t value, std::int64_t bound) const {
    const auto difference = static_cast<double>(std::abs(bound - value));
    return difference <= options_.gap * std::max(1.0, std::abs(static_cast<double>(bound)));
  }

  struct Improvement {
    std::optional<std::int64_t> bound;
    std::optional<std::int64_t> reached;  // by a solution of the formulation that is whole
  };

  // Solves priced problems repeatedly, each time from the columns found before, until the time is up or nothing
  // improves.
  Improvement improve_while_it_helps(Formulation& formulation, std::size_t i, const LinearExpression& expression) {
    const bool is_maximised_level = is_maximised(ids_[i].kind);
    const auto is_tighter = [&](std::int64_t a, std::int64_t b) { return is_maximised_level ? a < b : a > b; };
    Improvement best = improve(formulation, i, expression);
    while (!is_whole() && !options_.deadline.is_deterministic() && !options_.deadline.passed() &&
           !(best.bound && is_close(value(i), *best.bound))) {
      const std::int64_t before = value(i);
      const Improvement next = improve(formulation, i, expression);
      const bool is_bound_better = next.bound && (!best.bound || is_tighter(*next.bound, *best.bound));
      if (is_bound_better) best.bound = next.bound;
      if (!is_bound_better && value(i) == before) break;
    }
    return best;
  }

  // One level that is being solved.
  struct LevelTask {
    std::size_t level;
    const LinearExpression& expression;
    int sign;              // 1: maximised, -1: minimised
    std::int64_t divisor;  // of all coefficients
    LinearExpression scaled;
    Improvement result;
  };

  LevelTask task_of(std::size_t i, const LinearExpression& expression) const {
    std::int64_t divisor = 0;
    for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
    LevelTask task{i,          expression, is_maximised(ids_[i].kind) ? 1 : -1, std::max<std::int64_t>(1, divisor),
                   expression, {}};
    for (auto& [column, coefficient] : task.scaled.terms) coefficient /= task.divisor;
    return task;
  }

  // `proven`: of sign x scaled, which is an integer.
  void tighten(LevelTask& task, double proven) const {
    const std::optional<std::int64_t> bound =
        lp::whole_bound(proven, task.divisor, task.sign, task.expression.constant);
    if (!bound) return;
    std::int64_t told = *bound;
    if (const std::int64_t by_sums = options_.trivial[task.level]; task.sign * by_sums < task.sign * told)
      told = by_sums;
    if (task.result.bound && task.sign * told >= task.sign * *task.result.bound) return;
    task.result.bound = told;
    tell(task.level, told);
  }
  // The incumbent is feasible while it is on the path.
  bool is_refuted_by_incumbent(const LevelTask& task) const {
    return is_on_path() && task.result.bound && task.sign * value(task.level) > task.sign * *task.result.bound;
  }
  bool is_solved(const LevelTask& task) const {
    return task.result.bound && is_close(value(task.level), *task.result.bound);
  }

  // Solves one level with the earlier levels fixed, makes a plan of the solution, and keeps it if it is better.
  Improvement improve(Formulation& formulation, std::size_t i, const LinearExpression& expression) {
    LevelTask task = task_of(i, expression);
    if (!is_whole()) price(task);
    if (!has_blocks() && (is_whole() || options_.runs("cbc")) && !options_.deadline.passed() && !is_solved(task))
      branch(formulation, task);
    return task.result;
  }

  // Finds columns for the level, a bound, and plans on the way.
  void price(LevelTask& task) {
    if (!knows_incumbent_) add_known_contents();
    whole_.add_new_columns();
    const Deadline soon = options_.deadline.part(options_.parts.first_bound);
    const auto divisor = static_cast<double>(task.divisor);
    first_prices_.find(ids_[task.level], {task.scaled, task.sign, soon, options_.threads}, divisor);
    if (has_blocks()) {
      const auto on_bound = [&](double proven) {
        tighten(task, proven);
        return is_solved(task);
      };
      for (std::string& defect : blocks_.improve(task.scaled, task.sign, first_prices_.asked(), on_bound))
        outcome_.defects.push_back(std::move(defect));
      first_prices_.remember(ids_[task.level], divisor);
      return;
    }
    const Priced priced = price_columns(whole_, task.scaled, task.sign, options_.parts.pricing_whole);
    first_prices_.remember(ids_[task.level], divisor);
    tighten(task, priced.dual_bound);
    relaxed_ = priced.x;
    if (relaxed_.empty()) return;
    take(whole_.formulation->round(relaxed_), whole_.pool.configurations());
    if (!task.result.bound || is_solved(task) || !options_.runs("branch")) return;
    const Deadline until = options_.deadline.part(options_.parts.branching);
    const double known = static_cast<double>(task.sign * (value(task.level) - task.expression.constant)) / divisor;
    const PricingTask pricing{task.scaled, task.sign, until, options_.threads};
    tighten(task, column_generation::branch_on_gangs(whole_, pricing, priced, known, backend_,
                                                     [&](const std::vector<double>& x) {
                                                       take(whole_.formulation->round(x), whole_.pool.configurations());
                                                     }));
  }

  // CBC on the existing columns: up to a proof if these are all columns.
  void branch(const Formulation& formulation, LevelTask& task) {
    lp::Milp milp = formulation.model().build(task.scaled, task.sign);
    if (!is_whole()) keep_near(formulation, milp);
    cbc::MilpRequest request;
    request.deadline = options_.deadline.after(level_share()) - plans_.slowest();
    request.relative_gap = is_whole() ? 0 : std::max(1e-6, options_.gap / 4);
    request.is_proof = is_whole();
    request.work = options_.deadline.part(options_.parts.cbc_work).work();
    cbc::MilpAnswer answer = backend_.solve(milp, request);
    if (has_failed(answer, request)) {  // once more, another way
      request.without_preprocessing = true;
      answer = backend_.solve(milp, request);
    }
    note_failure(answer, request);
    const auto reached = [&]() -> std::optional<std::int64_t> {
      if (answer.x.empty()) return std::nullopt;
      return lp::value_of(task.expression, answer.x);
    };
    if (is_whole()) tighten(task, answer.bound);
    const bool was_stopped = request.work.is_reached() || Deadline::Clock::now() >= request.deadline;
    const bool is_refuted = is_whole() && is_refuted_by_incumbent(task);
    if (is_refuted) task.result.bound.reset();
    if (is_whole() && !was_stopped && !request.without_preprocessing &&
        (!task.result.bound || reached() != task.result.bound)) {
      // A proof without its point, or a false one: preprocessing can lose points.
      request.without_preprocessing = true;
      cbc::MilpAnswer again = backend_.solve(milp, request);
      note_failure(again, request);
      tighten(task, again.bound);
      if (!again.x.empty() && (answer.x.empty() || again.objective > answer.objective)) answer = std::move(again);
    }
    if (answer.x.empty()) return;
    take(formulation, answer.x);
    if (is_whole()) task.result.reached = reached();
  }

  // Of the time that is left, for CBC on one level.
  double level_share() const {
    switch (columns_) {
      case Columns::kListed:
        return 1.0;
      case Columns::kAllNodes:
        return options_.parts.cbc_all_nodes;
      case Columns::kPriced:
        break;
    }
    return options_.parts.cbc_priced;
  }

  // A worker that was stopped because its time was up is no defect; one that broke before is.
  static bool has_failed(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request) {
    return answer.status == cbc::SolveStatus::kFailed && Deadline::Clock::now() < request.deadline;
  }
  void note_failure(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request) {
    if (has_failed(answer, request)) outcome_.defects.push_back(answer.message);
  }

  // The trace: the plan's values, and the bounds that hold given the values before, that is, on the path so far.
  // `bound`: of `level`, which is being solved.
  void tell(std::size_t level = 0, std::optional<std::int64_t> bound = {}) const {
    if (options_.trace == nullptr) return;
    Tracer::Bounds bounds = outcome_.bounds;
    if (bound) bounds[level] = bound;
    const bool bounds_hold = candidates_.complete && plans_.settled().empty();
    for (std::size_t i = bounds_hold ? levels_on_path() + 1 : 0; i < bounds.size(); ++i) bounds[i].reset();
    options_.trace->tell(Origin::kMilp, outcome_.best.levels, bounds);
  }

  // Restricts CBC to the neighbourhood of the LP's solution: of each configuration about as many nodes as there, and
  // only columns that are in it or had nearly zero reduced profit. Solved to the end this is a large neighbourhood
  // search, not a proof.
  void keep_near(const Formulation& formulation, lp::Milp& milp) const {
    if (relaxed_.empty()) return;
    for (formulation::ResidualClassIndex residual : whole_.supply.residuals.indices())
      for (const std::int32_t column : formulation.configuration_columns(residual)) {
        const auto j = static_cast<std::size_t>(column);
        const double nodes = j < relaxed_.size() ? relaxed_[j] : 0;
        milp.lower[j] = std::max(milp.lower[j], std::floor(nodes + 1e-6) - 1);
        milp.upper[j] = std::min(milp.upper[j], std::ceil(nodes - 1e-6) + 1);
      }
  }

  void take(const Formulation& formulation, const std::vector<double>& x) {
    if (columns_ != Columns::kAllNodes) return take(formulation.read(x), whole_.pool.configurations());
    const WholeModel::Content content = all_nodes_->read(formulation, x);
    take(content.solution, content.configurations);
  }

  void take(const FormulationSolution& solution, const SolutionPlans::Configurations& configurations) {
    plans_.take(solution, configurations, is_whole());
  }

  // Column generation on the LP relaxation, for at most a share of the time that is left.
  Priced price_columns(RestrictedMaster& restricted, const LinearExpression& expression, int sign, double share) {
    const Deadline until = options_.deadline.part(share);
    const PricingTask task{expression, sign, until, options_.threads};
    Priced priced = muster::column_generation::price_columns(restricted, task, backend_);
    if (!priced.defect.empty()) outcome_.defects.push_back(priced.defect);
    return priced;
  }

  const Problem& problem_;
  const FairShares& shares_;
  cbc::Backend& backend_;
  MilpEngineOptions options_;
  const Deadline last_;  // for the levels that nothing is solved for any more
  std::vector<LevelId> ids_;
  const EvictionCandidates& candidates_;
  RestrictedMaster& whole_;
  std::optional<std::size_t> states_;  // of the list
  std::size_t proven_ = 0;             // levels, from the first on, of the plan that it has started from
  bool is_formulated_;                 // as nothing is held yet
  BlockStage blocks_;
  FirstPrices first_prices_;
  bool knows_incumbent_ = false;  // the pool has its contents
  std::optional<WholeModel> all_nodes_;
  Columns columns_ = Columns::kPriced;
  bool solving_ = true, by_optimum_ = false, is_finished_ = false;
  std::vector<std::int64_t> path_;  // what the levels so far are held at
  std::vector<double> relaxed_;     // the LP's last solution
  std::map<formulation::Terms, std::int64_t> held_;
  MilpOutcome outcome_;
  SolutionPlans plans_;
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
  MilpOutcome outcome;
  outcome.best = incumbent;
  outcome.bounds.resize(incumbent.levels.values.size());
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
  if (candidates.any || incumbent.plan.evictions.empty()) {
    const auto make_engine = [&](RestrictedMaster& whole, const Candidate& first, const MilpEngineOptions& of_pass) {
      return Engine(setting, whole, candidates, {}, first, backend, of_pass);
    };
    const MilpPasses passes(preparation, make_engine);
    const std::size_t proven = passes.proven_levels(outcome, options.sums);
    MilpEngineOptions rest = options;
    // The levels that the choice proves take most of the time.
    if (candidates.any && proven < ids.size() && ids[proven].kind > LevelKind::kEvicted)
      rest.levels_time = kTuning.parts.side;
    MilpPass pass = passes.run(preparation.whole, outcome.best, proven, rest);
    add_earlier(outcome, ids, pass.outcome);
    outcome = std::move(pass.outcome);
    const bool is_proven = passes.proven_levels(outcome, options.sums) == ids.size();
    if (pass.is_finished || is_proven || !candidates.any || options.deadline.passed()) return outcome;
  }
  if (!options.runs("places")) return outcome;
  const SettledEvictions settled = settle_evictions(setting.problem, outcome.best.plan);
  RestrictedMaster rest(setting, settled.state, settled.candidates);
  MilpOutcome second =
      Engine(setting, rest, settled.candidates, settled.evictions, outcome.best, backend, options).run();
  outcome.best = std::move(second.best);
  outcome.improved = outcome.improved || second.improved;
  if (!outcome.first_improved) outcome.first_improved = second.first_improved;
  outcome.defects.insert(outcome.defects.end(), second.defects.begin(), second.defects.end());
  for (const auto& [rule, times] : second.refused) outcome.refused[rule] += times;
  return outcome;
}

}  // namespace muster::engine
