#include "solver/engine/choice_stage.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/tuning.h"
#include "model/objective/level_bounds.h"
#include "solver/choice/choice.h"
#include "solver/engine/choice_places.h"
#include "solver/engine/offers.h"
#include "solver/engine/repair.h"
#include "solver/slots/slots.h"

namespace muster::engine {
namespace {

// What of the choice's bounds holds for a plan: each one was found with the chosen values of the levels before, or
// better ones.
std::vector<std::optional<std::int64_t>> bounds_for(const Levels& plan, const std::vector<choice::ChosenLevel>& levels,
                                                    const std::vector<LevelId>& ids) {
  std::vector<std::optional<std::int64_t>> bounds(plan.values.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    bounds[i] = levels[i].bound;
    const bool is_maximum = is_maximised(ids[i].kind);
    if (is_maximum ? plan.values[i] < levels[i].value : plan.values[i] > levels[i].value) break;
  }
  return bounds;
}

}  // namespace

ChoiceOutcome choose_and_place(const MilpPreparation& preparation, const Candidate& start, cbc::Backend& backend,
                               const MilpEngineOptions& options) {
  ChoiceOutcome result;
  MilpOutcome& outcome = result.outcome;
  outcome.best = start;
  const column_generation::Setting& setting = preparation.setting;
  const column_generation::RestrictedMaster& whole = preparation.whole;
  choice::ChoiceModel model({setting.problem, setting.shares, setting.rules, whole.demand, whole.zones,
                             whole.anti_affinity, whole.before, whole.base},
                            options.deadline.is_deterministic() ? 1 : options.threads);
  if (!model.formulate(options.deadline.part(options.parts.formulating))) return result;
  const std::vector<std::int64_t> trivial =
      options.trivial.empty() ? trivial_bounds(setting.problem, setting.shares) : options.trivial;
  choice::Choice choice =
      model.choose(trivial, {start.plan, options.newer}, options.deadline.part(options.parts.choosing), backend);
  outcome.defects = std::move(choice.defects);
  const std::vector<LevelId> ids = level_ids(setting.problem);
  const QueueBounds bounds = queue_bounds(setting.problem, whole.before);
  const Repair repair(setting, whole.demand, bounds);
  const auto tell = [&] {
    if (options.trace != nullptr) options.trace->tell(Origin::kMilp, outcome.best.levels, {});
  };
  Offers offers({setting, repair, ids, options, preparation.candidates.any}, tell, outcome);
  const auto place = [&](const formulation::FormulationSolution& solution) {
    ChoicePlaces places(setting.problem, whole, solution);
    const slots::SlotTask task = places.task(bounds);
    const slots::PlaceTime time{options.deadline.part(options.parts.placing),
                                options.deadline.part(options.parts.dealing)};
    std::optional<slots::SlotResult> found = slots::find_places(task, time, options.runs("slots") ? &backend : nullptr);
    if (!found) return;
    std::vector<PlannedEviction> departures = places.departures(found->state, model.formulation().channels());
    // As a solution that is not whole: what left for pods without places comes back first.
    offers.offer(std::move(found->state), std::move(departures), false);
  };
  if (choice.solution) place(*choice.solution);
  // Of what was chosen, much may have no places, or only by evictions without a right: an earlier choice may lose less.
  const auto is_as_chosen = [&] {
    const auto is_same = [](const choice::ChosenLevel& level, std::int64_t value) { return level.value == value; };
    return std::ranges::equal(choice.levels, std::span(outcome.best.levels.values).first(choice.levels.size()),
                              is_same);
  };
  for (const formulation::FormulationSolution& earlier : choice.earlier)
    if (options.runs("earlier") && !is_as_chosen() && !options.deadline.passed()) place(earlier);
  if (preparation.candidates.complete) result.levels = std::move(choice.levels);
  return result;
}

MilpOutcome outcome_for(const Candidate& incumbent, const ChoiceOutcome& choice, const std::vector<LevelId>& ids) {
  MilpOutcome outcome = choice.outcome;
  if (compare(outcome.best.levels, incumbent.levels, ids) <= 0) {
    outcome.best = incumbent;
    outcome.improved = false;
    outcome.first_improved.reset();
  }
  outcome.bounds = bounds_for(outcome.best.levels, choice.levels, ids);
  return outcome;
}

}  // namespace muster::engine
