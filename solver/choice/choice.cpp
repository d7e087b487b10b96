#include "solver/choice/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/require.h"
#include "model/base/tuning.h"
#include "solver/choice/near_search.h"
#include "solver/choice/sum_rows.h"
#include "solver/formulation/pooled_supply.h"

namespace muster::choice {
namespace {

std::int64_t divisor_of(const lp::LinearExpression& expression) {
  std::int64_t divisor = 0;
  for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
  return std::max<std::int64_t>(1, divisor);
}

// What all of the last level is worth, in units of the level that is solved: half of one, so that with a gap of as much
// a solution that is a unit better is never given up.
constexpr double kMostOfLast = 0.5;

}  // namespace

bool ChoiceModel::formulate(const Deadline& deadline) {
  supply_ = formulation::collect_pooled_supply(in_.problem, in_.demand, in_.zones, in_.base);
  if (!supply_) return false;
  ids_ = level_ids(in_.problem);
  try {
    build(deadline);
  } catch (const lp::ModelTooLong&) {
    formulation_.reset();
    return false;
  }
  return true;
}

void ChoiceModel::build(std::optional<Deadline> deadline) {
  const Deadline::Clock::time_point start = Deadline::Clock::now();
  levels_.clear();
  bounds_.clear();
  formulation::FormulationInput input{in_.problem,        in_.shares, in_.demand, in_.zones, *supply_,
                                      in_.anti_affinity,  in_.rules,  in_.before, in_.base,  false,
                                      std::move(deadline)};
  input.pooled = true;
  formulation_.emplace(input);
  has_anchored_ = std::ranges::any_of(in_.demand.running, [](const auto& cell) { return cell.move.is_none(); });
  SumRows(in_.problem, in_.demand, *supply_, in_.anti_affinity, in_.base, *formulation_).add();
  first_of_levels_ = formulation_->model().columns();
  for (std::size_t i = 0; i < ids_.size() && ids_[i].kind <= LevelKind::kEvicted; ++i)
    levels_.push_back({i, *formulation_->level(ids_[i])});
  formulation_->model().end_timed();
  building_ = Deadline::Clock::now() - start;
}

Choice ChoiceModel::choose(const std::vector<std::int64_t>& trivial, const Plan& start, const Deadline& deadline,
                           cbc::Backend& backend) {
  MUSTER_REQUIRE(formulation_.has_value());
  const auto is_proven = [](const ChosenLevel& level) { return level.bound == level.value; };
  const auto is_same = [](const ChosenLevel& a, const ChosenLevel& b) {
    return a.value == b.value && a.bound == b.bound;
  };
  Choice best;
  std::vector<std::vector<ChosenLevel>> rounds;
  for (bool again = true; again;) {
    Choice choice;
    if (best.levels.empty()) start_with(start, deadline, backend, choice);
    const auto solved =
        static_cast<std::size_t>(std::ranges::find_if_not(best.levels, is_proven) - best.levels.begin());
    auto open = static_cast<std::ptrdiff_t>(levels_.size());
    if (!best.levels.empty()) open = std::ssize(best.levels) - std::ranges::count_if(best.levels, is_proven);
    for (const Level& level : levels_) {
      if (level.index < solved) {
        keep(level, best.levels[level.index], choice);
        continue;
      }
      const double even = 1 / static_cast<double>(std::max<std::ptrdiff_t>(1, open));
      const double part = best.levels.empty() ? std::max(even, kTuning.parts.most) : even;
      if (!solve(level, trivial[level.index], deadline.part(part), backend, choice)) return choice;
      if (best.levels.empty() || !is_proven(best.levels[level.index])) --open;
    }
    const bool is_new = std::ranges::none_of(
        rounds, [&](const auto& earlier) { return std::ranges::equal(earlier, choice.levels, is_same); });
    rounds.push_back(choice.levels);
    best = std::move(choice);
    // Levels that took less than their part have left time for those that are open.
    other_way_ = !other_way_;
    again = !std::ranges::all_of(best.levels, is_proven) && best.defects.empty() && is_new && !deadline.passed() &&
            (deadline.is_deterministic() || deadline.left() > 2 * building_);
    if (again) build(std::nullopt);
  }
  if (!x_.empty()) best.solution = formulation_->read(x_);
  return best;
}

void ChoiceModel::keep(const Level& level, const ChosenLevel& chosen, Choice& choice) {
  formulation::Terms terms = formulation::terms_of(level.expression);
  if (!terms.empty()) {
    formulation_->hold(ids_[level.index], level.expression, chosen.value);
    bounds_.emplace(std::move(terms), chosen.value - level.expression.constant);
  }
  choice.levels.push_back(chosen);
}

// Coefficients divided by their common divisor, so that CBC's tolerances are in the unit of the level.
struct ChoiceModel::Task {
  Task(const Level& level, LevelKind kind, const Deadline& time)
      : expression(level.expression),
        sign(is_maximised(kind) ? 1 : -1),
        divisor(divisor_of(expression)),
        deadline(time) {
    scaled = expression;
    for (auto& [column, coefficient] : scaled.terms) coefficient /= divisor;
  }
  const lp::LinearExpression& expression;
  int sign;  // 1: maximised, -1: minimised
  std::int64_t divisor;
  lp::LinearExpression scaled;
  const Deadline& deadline;
};

bool ChoiceModel::solve(const Level& level, std::int64_t trivial, const Deadline& deadline, cbc::Backend& backend,
                        Choice& choice) {
  const Deadline::Clock::time_point start = Deadline::Clock::now();
  const Task task(level, ids_[level.index].kind, deadline);
  const formulation::Terms terms = formulation::terms_of(level.expression);
  std::optional<std::int64_t> bound;
  if (terms.empty())
    bound = level.expression.constant;
  else if (const auto same = bounds_.find(terms); same != bounds_.end())
    bound = same->second + level.expression.constant;
  else if (task.sign > 0 || is_part_of_evicted(ids_[level.index].kind))
    bound = trivial;
  const auto is_reached = [&] { return bound && !x_.empty() && lp::value_of(level.expression, x_) == *bound; };
  if (!terms.empty() && !is_reached() && !x_.empty()) raise(task, backend, choice);
  if (!terms.empty() && !is_reached() && !deadline.passed()) {
    // With the bound as a row, CBC ends as soon as a solution has it.
    if (bound && task.sign > 0)
      formulation_->model().add_constraint(level.expression, -lp::kInfinity, static_cast<double>(*bound), "bound");
    for (const double limit : bounds_of(level, task, backend, choice)) {
      const auto proven = lp::whole_bound(limit, task.divisor, task.sign, level.expression.constant);
      if (proven && (!bound || task.sign * *proven < task.sign * *bound)) bound = proven;
    }
  }
  if (x_.empty() && !terms.empty()) return false;
  const std::int64_t value = terms.empty() ? level.expression.constant : lp::value_of(level.expression, x_);
  if (!terms.empty()) formulation_->hold(ids_[level.index], level.expression, value);
  if (bound) bounds_.emplace(terms, *bound - level.expression.constant);
  const std::chrono::duration<double, std::milli> time = Deadline::Clock::now() - start;
  choice.levels.push_back({value, bound, time.count()});
  return true;
}

// Nothing if the plan is not one of the model's, which knows no gang that has no level.
void ChoiceModel::start_with(const Plan& plan, const Deadline& deadline, cbc::Backend& backend, Choice& choice) {
  const auto open = std::ranges::find_if(levels_, [](const Level& level) { return !level.expression.terms.empty(); });
  if (open == levels_.end()) return;
  const Deadline soon = deadline.part(1 / static_cast<double>(levels_.size()));
  const Task task(*open, ids_[open->index].kind, soon);
  lp::Milp milp = formulation_->model().build(task.scaled, task.sign);
  for (const auto& [column, value] : formulation_->decisions_of(plan)) {
    const auto j = static_cast<std::size_t>(column);
    milp.lower[j] = milp.upper[j] = std::clamp(static_cast<double>(value), milp.lower[j], milp.upper[j]);
  }
  take(backend.solve(milp, request_of(task)), task, choice);
}

// The best value of the level that the chosen gangs and victims have: columns of the levels alone are free.
void ChoiceModel::raise(const Task& task, cbc::Backend& backend, Choice& choice) {
  lp::Milp milp = formulation_->model().build(task.scaled, task.sign);
  for (std::size_t column = 0; column < static_cast<std::size_t>(first_of_levels_); ++column)
    milp.lower[column] = milp.upper[column] = x_[column];
  take(backend.solve(milp, request_of(task)), task, choice);
}

// Of equal solutions, one that is better in the last level is preferred: it is worth less than a unit of this one.
lp::Milp ChoiceModel::with_last_level(lp::Milp milp, const Level& level) const {
  const Level& last = levels_.back();
  if (level.index == last.index) return milp;
  double most = 0;
  for (const auto& [column, coefficient] : last.expression.terms) {
    const auto j = static_cast<std::size_t>(column);
    most += std::abs(static_cast<double>(coefficient)) * std::max(std::abs(milp.lower[j]), std::abs(milp.upper[j]));
  }
  if (most == 0 || !std::isfinite(most)) return milp;
  for (const auto& [column, coefficient] : last.expression.terms)
    milp.objective[static_cast<std::size_t>(column)] -= kMostOfLast * static_cast<double>(coefficient) / most;
  return milp;
}

// Of sign x expression / divisor. One way, or two at the same time: CBC as it is, on the level alone; and without cuts,
// or without most heuristics where pods are tied to nodes, with a part of the last level in the objective. Each is at
// times much the slower one. Where pods are tied to nodes, models are large: CBC as it is comes after a search around
// the LP.
std::vector<double> ChoiceModel::bounds_of(const Level& level, const Task& task, cbc::Backend& backend,
                                           Choice& choice) {
  const lp::Milp plain = formulation_->model().build(task.scaled, task.sign);
  const lp::Milp other = with_last_level(plain, level);
  cbc::MilpRequest request = request_of(task), other_request = request;
  other_request.way = has_anchored_ ? cbc::SearchWay::kFewHeuristics : cbc::SearchWay::kWithoutCuts;
  const bool is_last = level.index == levels_.back().index;
  if (!is_last) other_request.absolute_gap = kMostOfLast;
  const double more = is_last ? 0 : kMostOfLast;
  if (threads_ > 1) {
    cbc::OneQuestion first({plain, request}), second({other, other_request});
    if (has_anchored_ && !x_.empty()) {
      NearSearch near(plain, request);
      backend.race(second, near, request.deadline);
      take(near.answer(), task, choice);
      take(second.answer(), task, choice);
      return {near.answer().bound, second.answer().bound + more};
    }
    backend.race(first, second, request.deadline);
    take(first.answer(), task, choice);
    take(second.answer(), task, choice);
    return {first.answer().bound, second.answer().bound + more};
  }
  const cbc::MilpAnswer answer = other_way_ ? backend.solve(other, other_request) : backend.solve(plain, request);
  take(answer, task, choice);
  return {other_way_ ? answer.bound + more : answer.bound};
}

cbc::MilpRequest ChoiceModel::request_of(const Task& task) const {
  cbc::MilpRequest request;
  request.deadline = task.deadline.end();
  request.work = task.deadline.work();
  request.start = x_;
  return request;
}

// A better solution than the last one becomes the last one.
void ChoiceModel::take(const cbc::MilpAnswer& answer, const Task& task, Choice& choice) {
  if (answer.status == cbc::SolveStatus::kFailed && !task.deadline.passed()) choice.defects.push_back(answer.message);
  const auto value = [&](const std::vector<double>& x) { return task.sign * lp::value_of(task.expression, x); };
  if (!answer.x.empty() && (x_.empty() || value(answer.x) > value(x_))) x_ = answer.x;
}

}  // namespace muster::choice
