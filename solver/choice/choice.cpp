#include "solver/choice/choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "model/base/require.h"
#include "model/base/tuning.h"
#include "solver/choice/improvement.h"
#include "solver/choice/neighbourhoods.h"
#include "solver/supply/pooled_supply.h"

namespace muster::choice {
namespace {

std::int64_t divisor_of(const lp::LinearExpression& expression) {
  std::int64_t divisor = 0;
  for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
  return std::max<std::int64_t>(1, divisor);
}

}  // namespace

bool ChoiceModel::formulate(const Deadline& deadline) {
  supply_ = formulation::collect_pooled_supply(in_.problem, in_.demand, in_.zones, in_.base);
  if (!supply_) return false;
  try {
    build(deadline);
  } catch (const lp::ModelTooLong&) {
    formulation_.reset();
    return false;
  }
  return true;
}

void ChoiceModel::build(const Deadline& deadline) {
  formulation::FormulationInput input{in_.problem, in_.shares, in_.demand, in_.zones, *supply_, in_.anti_affinity,
                                      in_.rules,   in_.before, in_.base,   false,     deadline};
  input.pooled = true;
  formulation_.emplace(input);
  sums_.emplace(in_.problem, in_.demand, *supply_, in_.anti_affinity, in_.base, *formulation_).add();
  first_of_levels_ = formulation_->model().columns();
  for (const LevelId& id : level_ids(in_.problem)) {
    if (id.kind > LevelKind::kEvicted) break;
    const lp::LinearExpression expression = formulation_->level(id)->merged();
    levels_.push_back({id, expression, is_maximised(id.kind) ? 1 : -1, divisor_of(expression)});
  }
  for (ModelLevel& level : levels_) {
    if (level.expression.terms.empty()) continue;
    const lp::ScaledRow row = formulation_->model().add_scaled_row(level.expression, "level");
    level.row = row.row;
    level.scale = row.scale;
  }
  formulation_->model().end_timed();
}

Choice ChoiceModel::choose(const std::vector<std::int64_t>& trivial, const ChoiceStart& start, const Deadline& deadline,
                           cbc::Backend& backend) {
  MUSTER_REQUIRE(formulation_.has_value());
  Choice choice;
  Incumbent incumbent(formulation_->model().build({}, 1), levels_, trivial);
  Decisions nothing = decisions_of({}, false);
  for (auto& [column, value] : nothing) value = 0;
  // The plan may not be one of the model's, which knows no gang that has no level; to decide nothing is.
  for (const Decisions& decisions : {decisions_of(start.plan, true), decisions_of(start.plan, false), nothing, {}})
    if (incumbent.x().empty()) start_with(decisions, deadline, backend, incumbent, choice.defects);
  if (incumbent.x().empty()) return choice;
  improve(incumbent, start, deadline, backend, choice.defects);
  for (std::size_t i = 0; i < levels_.size(); ++i) choice.levels.push_back({incumbent.value(i), incumbent.bound(i)});
  choice.solution = formulation_->read(incumbent.x());
  for (const std::vector<double>& x : incumbent.earlier()) choice.earlier.push_back(formulation_->read(x));
  choice.improvements = incumbent.improvements();
  return choice;
}

// `with_places`: in which pool each pod is, too.
ChoiceModel::Decisions ChoiceModel::decisions_of(const Plan& plan, bool with_places) const {
  formulation::PlanColumns known = formulation_->decisions_of(plan);
  if (with_places) std::ranges::copy(sums_->decisions_of(known.places), std::back_inserter(known.decisions));
  return std::move(known.decisions);
}

lp::Milp ChoiceModel::with(lp::Milp model, const Decisions& decisions) {
  for (const auto& [column, value] : decisions) {
    const auto j = static_cast<std::size_t>(column);
    model.lower[j] = model.upper[j] = std::clamp(static_cast<double>(value), model.lower[j], model.upper[j]);
  }
  return model;
}

// Any solution with these decisions.
void ChoiceModel::start_with(const Decisions& decisions, const Deadline& deadline, cbc::Backend& backend,
                             Incumbent& incumbent, std::vector<std::string>& defects) const {
  const Deadline soon = deadline.part(kTuning.parts.side);
  cbc::MilpRequest request;
  request.deadline = soon.end();
  request.work = soon.work();
  cbc::MilpAnswer answer = backend.solve(with(incumbent.model(), decisions), request);
  if (answer.status == cbc::SolveStatus::kFailed && !soon.passed()) defects.push_back(answer.message);
  if (!answer.x.empty()) incumbent.begin(std::move(answer.x));
}

void ChoiceModel::improve(Incumbent& incumbent, const ChoiceStart& start, const Deadline& deadline,
                          cbc::Backend& backend, std::vector<std::string>& defects) const {
  // The model of a newer plan, if that is better in a level whose value is known.
  const auto newer = [&]() -> std::optional<lp::Milp> {
    const std::optional<Candidate> plan = start.newer ? start.newer() : std::nullopt;
    for (std::size_t i = 0; plan && i < incumbent.raised(); ++i) {
      const std::int64_t gain = levels_[i].sign * (plan->levels.values[i] - incumbent.value(i));
      if (gain < 0) break;
      if (gain > 0) return with(incumbent.model(), decisions_of(plan->plan, true));
    }
    return std::nullopt;
  };
  const Neighbourhoods neighbourhoods(in_.problem, in_.demand, in_.zones, formulation_->channels(),
                                      formulation_->owners());
  NeighbourhoodPicker picker(neighbourhoods);
  // Where pods are tied to nodes, models are large, and cuts are worth their time.
  const bool has_anchored =
      std::ranges::any_of(in_.demand.running, [](const auto& cell) { return cell.move.is_none(); });
  const PartSearch::Input input{incumbent,
                                neighbourhoods,
                                picker,
                                first_of_levels_,
                                has_anchored ? cbc::SearchWay::kFewHeuristics : cbc::SearchWay::kWithoutCuts,
                                deadline,
                                defects};
  PartSearch parts(input, 1), more_parts(input, 2);
  parts.restart_with(newer);
  BoundSearch bounds(incumbent, neighbourhoods, deadline, defects);
  TakeTurns turns(bounds, more_parts);
  if (threads_ > 1) return backend.race(turns, parts, deadline.end());
  // One after the other.
  constexpr int kPartsForEachBound = 3;
  for (int turn = 0; !bounds.is_settled(); ++turn) {
    const bool is_of_bounds = turn % (1 + kPartsForEachBound) == 0;
    cbc::Lane *lane = &parts, *other = &bounds;
    if (is_of_bounds) std::swap(lane, other);
    const cbc::Question* question = lane->next();
    if (question == nullptr) {
      lane = other;
      question = lane->next();
    }
    if (question == nullptr) return;
    lane->hear(backend.solve(question->milp, question->request));
  }
}

}  // namespace muster::choice
