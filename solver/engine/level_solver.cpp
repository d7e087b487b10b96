#include "solver/engine/level_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "heuristics/state/plan_of.h"
#include "model/base/tuning.h"
#include "solver/engine/whole_model.h"
#include "solver/supply/listing_time.h"

namespace muster::engine {

using formulation::Formulation, formulation::FormulationSolution, lp::LinearExpression;

namespace {

std::size_t most_states(const MilpEngineOptions& options) {
  if (options.deadline.is_deterministic()) return options.most.states;
  return std::min(options.most.states, formulation::most_states_in(options.deadline.left()));
}

// A worker that was stopped because its time was up is no defect; one that broke before is.
bool has_failed(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request) {
  return answer.status == cbc::SolveStatus::kFailed && Deadline::Clock::now() < request.deadline;
}

}  // namespace

std::size_t most_node_columns(const MilpEngineOptions& options) {
  if (!options.runs("whole")) return 0;
  if (options.deadline.is_deterministic()) return std::min(options.most.node_columns, kTuning.listing.few);
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(options.deadline.left()).count();
  const double each = options.levels_time * static_cast<double>(kTuning.listing.column_us);
  return std::min(options.most.node_columns, static_cast<std::size_t>(static_cast<double>(left) / each));
}

LevelSolver::LevelSolver(const Input& input, Events events, MilpOutcome& outcome)
    : in_(input),
      outcome_(outcome),
      events_(std::move(events)),
      blocks_({in_.whole, in_.backend, in_.options,
               [this](const FormulationSolution& solution) { take(solution, in_.whole.pool.configurations()); },
               [this] { return plans_.slowest(); }}),
      first_prices_(in_.setting.problem, in_.whole, in_.backend, in_.options),
      plans_(
          {in_.setting, in_.whole, in_.ids, in_.options, in_.may_leave},
          [this] {
            knows_incumbent_ = false;
            events_.on_better();
          },
          outcome_) {
  choose_columns();
}

Deadline::Clock::duration LevelSolver::time_without_list() const {
  if (!states_ || in_.options.deadline.is_deterministic()) return {};
  return formulation::time_without_list(*states_, in_.options.deadline.left());
}

void LevelSolver::begin() {
  if (columns_ == Columns::kPriced) add_known_contents();
}

bool LevelSolver::formulate(bool is_formulated) {
  const bool is_done = is_formulated && !is_listed();
  if (!is_done && !in_.whole.formulate(is_listed(), in_.options.deadline.part(in_.options.parts.formulating)))
    return false;
  if (columns_ == Columns::kAllNodes) all_nodes_->add_to(*in_.whole.formulation);
  return true;
}

// Solves priced problems repeatedly, each time from the columns found before, until the time is up or nothing
// improves.
LevelSolver::Improvement LevelSolver::solve(Formulation& formulation, std::size_t i,
                                            const LinearExpression& expression) {
  const bool is_maximised_level = is_maximised(in_.ids[i].kind);
  const auto is_tighter = [&](std::int64_t a, std::int64_t b) { return is_maximised_level ? a < b : a > b; };
  Improvement best = improve(formulation, i, expression);
  while (!is_whole() && !in_.options.deadline.is_deterministic() && !in_.options.deadline.passed() &&
         !(best.bound && is_close(value(i), *best.bound))) {
    const std::int64_t before = value(i);
    const Improvement next = improve(formulation, i, expression);
    const bool is_bound_better = next.bound && (!best.bound || is_tighter(*next.bound, *best.bound));
    if (is_bound_better) best.bound = next.bound;
    if (!is_bound_better && value(i) == before) break;
  }
  return best;
}

// Solves one level with the earlier levels fixed, makes a plan of the solution, and keeps it if it is better.
LevelSolver::Improvement LevelSolver::improve(Formulation& formulation, std::size_t i,
                                              const LinearExpression& expression) {
  LevelTask task = task_of(i, expression);
  if (!is_whole()) price(task);
  if (is_whole() && !in_.options.deadline.passed() && !is_solved(task)) branch(formulation, task);
  return task.result;
}

LevelSolver::LevelTask LevelSolver::task_of(std::size_t i, const LinearExpression& expression) const {
  std::int64_t divisor = 0;
  for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
  LevelTask task{i,          expression, is_maximised(in_.ids[i].kind) ? 1 : -1, std::max<std::int64_t>(1, divisor),
                 expression, {}};
  for (auto& [column, coefficient] : task.scaled.terms) coefficient /= task.divisor;
  return task;
}

// Finds columns for the level, a bound, and plans on the way.
void LevelSolver::price(LevelTask& task) {
  if (!knows_incumbent_) add_known_contents();
  in_.whole.add_new_columns();
  const Deadline soon = in_.options.deadline.part(in_.options.parts.first_bound);
  const auto divisor = static_cast<double>(task.divisor);
  first_prices_.find(in_.ids[task.level], {task.scaled, task.sign, soon, in_.options.threads}, divisor);
  if (has_blocks()) {
    const auto on_bound = [&](double proven) {
      tighten(task, proven);
      return is_solved(task);
    };
    for (std::string& defect : blocks_.improve(task.scaled, task.sign, first_prices_.asked(), on_bound))
      outcome_.defects.push_back(std::move(defect));
    first_prices_.remember(in_.ids[task.level], divisor);
    return;
  }
  const Deadline until = in_.options.deadline.part(in_.options.parts.pricing_whole);
  const column_generation::Priced priced =
      column_generation::price_columns(in_.whole, {task.scaled, task.sign, until, in_.options.threads}, in_.backend);
  if (!priced.defect.empty()) outcome_.defects.push_back(priced.defect);
  first_prices_.remember(in_.ids[task.level], divisor);
  tighten(task, priced.dual_bound);
  if (!priced.x.empty()) take(in_.whole.formulation->round(priced.x), in_.whole.pool.configurations());
}

// CBC on all columns, up to a proof.
void LevelSolver::branch(const Formulation& formulation, LevelTask& task) {
  const lp::Milp milp = formulation.model().build(task.scaled, task.sign);
  cbc::MilpRequest request;
  const double share = columns_ == Columns::kListed ? 1.0 : in_.options.parts.cbc_all_nodes;
  request.deadline = in_.options.deadline.after(share) - plans_.slowest();
  request.relative_gap = 0;
  request.is_proof = true;
  request.work = in_.options.deadline.part(in_.options.parts.cbc_work).work();
  cbc::MilpAnswer answer = in_.backend.solve(milp, request);
  if (has_failed(answer, request)) {  // once more, another way
    request.without_preprocessing = true;
    answer = in_.backend.solve(milp, request);
  }
  note_failure(answer, request);
  const auto reached = [&]() -> std::optional<std::int64_t> {
    if (answer.x.empty()) return std::nullopt;
    return lp::value_of(task.expression, answer.x);
  };
  tighten(task, answer.bound);
  const bool was_stopped = request.work.is_reached() || Deadline::Clock::now() >= request.deadline;
  if (is_refuted_by_incumbent(task)) task.result.bound.reset();
  if (!was_stopped && !request.without_preprocessing && (!task.result.bound || reached() != task.result.bound)) {
    // A proof without its point, or a false one: preprocessing can lose points.
    request.without_preprocessing = true;
    cbc::MilpAnswer again = in_.backend.solve(milp, request);
    note_failure(again, request);
    tighten(task, again.bound);
    if (!again.x.empty() && (answer.x.empty() || again.objective > answer.objective)) answer = std::move(again);
  }
  if (answer.x.empty()) return;
  take(formulation, answer.x);
  task.result.reached = reached();
}

void LevelSolver::take(const Formulation& formulation, const std::vector<double>& x) {
  if (columns_ != Columns::kAllNodes) return take(formulation.read(x), in_.whole.pool.configurations());
  const WholeModel::Content content = all_nodes_->read(formulation, x);
  take(content.solution, content.configurations);
}

void LevelSolver::take(const FormulationSolution& solution, const SolutionPlans::Configurations& configurations) {
  plans_.take(solution, configurations, is_whole());
}

// All pods where they are, and the incumbent.
void LevelSolver::add_known_contents() {
  in_.whole.pool.add_contents(in_.whole.before, in_.whole.base);
  ClusterState state(in_.setting.problem, ClusterState::Releasing::kFreed);
  carry_out(outcome_.best.plan, state);
  in_.whole.pool.add_contents(state, in_.whole.base);
  knows_incumbent_ = true;
}

// `proven`: of sign x scaled, which is an integer.
void LevelSolver::tighten(LevelTask& task, double proven) const {
  const std::optional<std::int64_t> bound = lp::whole_bound(proven, task.divisor, task.sign, task.expression.constant);
  if (!bound) return;
  std::int64_t told = *bound;
  if (const std::int64_t by_sums = in_.options.trivial[task.level]; task.sign * by_sums < task.sign * told)
    told = by_sums;
  if (task.result.bound && task.sign * told >= task.sign * *task.result.bound) return;
  task.result.bound = told;
  events_.on_bound(task.level, told);
}

// The incumbent is feasible while it is on the path.
bool LevelSolver::is_refuted_by_incumbent(const LevelTask& task) const {
  return events_.is_on_path() && task.result.bound && task.sign * value(task.level) > task.sign * *task.result.bound;
}

bool LevelSolver::is_solved(const LevelTask& task) const {
  return task.result.bound && is_close(value(task.level), *task.result.bound);
}

bool LevelSolver::is_close(std::int64_t value, std::int64_t bound) const {
  const auto difference = static_cast<double>(std::abs(bound - value));
  return difference <= in_.options.gap * std::max(1.0, std::abs(static_cast<double>(bound)));
}

void LevelSolver::note_failure(const cbc::MilpAnswer& answer, const cbc::MilpRequest& request) {
  if (has_failed(answer, request)) outcome_.defects.push_back(answer.message);
}

void LevelSolver::choose_columns() {
  const Deadline until = in_.options.deadline.part(in_.options.parts.listing);
  if (in_.options.runs("list"))
    states_ =
        in_.whole.pool.list_all({most_states(in_.options), in_.options.most.columns, [&] { return until.passed(); }});
  columns_ = Columns::kListed;
  if (states_) return;
  all_nodes_.emplace(in_.setting.problem, in_.whole, most_node_columns(in_.options));
  columns_ = all_nodes_->is_whole() ? Columns::kAllNodes : Columns::kPriced;
}

}  // namespace muster::engine
