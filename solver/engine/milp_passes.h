// The methods of the integer program, one after another: those of shorter budgets come first, so that a longer budget
// finds what every shorter one finds. Where pods may leave, only models that CBC can be given whole: choosing gangs and
// victims first (solver/engine/choice_stage.h) finds all that priced columns found, in less time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "solver/column_generation/restricted_master.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/engine/milp_outcome.h"
#include "solver/engine/preparation.h"

namespace muster::engine {

// The result of an earlier engine from which `outcome` has started. Its bounds hold as long as the values of earlier
// levels are still those of its plan.
inline void add_earlier(const MilpOutcome& earlier, const std::vector<LevelId>& ids, MilpOutcome& outcome) {
  outcome.improved = outcome.improved || earlier.improved;
  if (earlier.first_improved) outcome.first_improved = earlier.first_improved;
  outcome.defects.insert(outcome.defects.begin(), earlier.defects.begin(), earlier.defects.end());
  for (const auto& [rule, times] : earlier.refused) outcome.refused[rule] += times;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::optional<std::int64_t>& bound = outcome.bounds[i];
    if (const auto& other = earlier.bounds[i]; other) {
      const bool is_tighter = !bound || (is_maximised(ids[i].kind) ? *other < *bound : *other > *bound);
      if (is_tighter) bound = other;
    }
    if (outcome.best.levels.values[i] != earlier.best.levels.values[i]) return;
  }
}

// The methods that there is time for, those of shorter budgets first, each beginning with the best plan so far.
template <class MakeEngine>
class MilpPasses {
 public:
  // `make_engine`: of a restricted master, an incumbent and options.
  MilpPasses(const MilpPreparation& preparation, const MakeEngine& make_engine)
      : preparation_(preparation), make_engine_(make_engine), ids_(level_ids(preparation.setting.problem)) {}

  // `proven`: levels of the incumbent, from the first on, that are proven optimal.
  MilpOutcome run(column_generation::RestrictedMaster& whole, const Candidate& incumbent, std::size_t proven,
                  const MilpEngineOptions& options) const {
    auto engine = make_engine_(whole, incumbent, options);
    engine.start_from(incumbent, proven);
    if (preparation_.candidates.any && !engine.is_whole()) return nothing(incumbent);
    const std::optional<MilpEngineOptions> first = options_before(engine, options);
    if (!first) return engine.run();
    column_generation::RestrictedMaster apart(preparation_.setting, preparation_.before, preparation_.candidates);
    MilpOutcome earlier = run(apart, incumbent, proven, *first);
    proven = proven_levels(earlier, options.sums);
    if (proven == ids_.size() || options.deadline.passed()) return earlier;
    engine.start_from(earlier.best, proven);
    MilpOutcome outcome = engine.run();
    add_earlier(earlier, ids_, outcome);
    return outcome;
  }

  // The number of levels, from the first on, for which the plan is proven optimal, by the engine or by sums.
  static std::size_t proven_levels(const MilpOutcome& outcome, const lp::SumBounds* sums) {
    const std::vector<std::int64_t>& values = outcome.best.levels.values;
    std::vector<std::optional<std::int64_t>> by_sums(values.size());
    if (sums != nullptr) by_sums = sums->reached(outcome.best.levels);
    std::size_t proven = 0;
    while (proven < values.size() && (outcome.bounds[proven] == values[proven] || by_sums[proven])) ++proven;
    return proven;
  }

 private:
  // Of the way that comes before the engine's, if any does.
  template <class Engine>
  std::optional<MilpEngineOptions> options_before(const Engine& engine, const MilpEngineOptions& options) const {
    if (options.deadline.is_deterministic() || preparation_.candidates.any) return std::nullopt;
    MilpEngineOptions first = options;
    first.most.states = 0;
    if (const auto time = engine.time_without_list(); time > time.zero()) {
      first.deadline = Deadline(Deadline::Clock::now() + time, false);
      return first;
    }
    if (!engine.has_all_nodes()) return std::nullopt;
    first.most.node_columns = 0;
    first.deadline = options.deadline.part(options.parts.without_columns);
    return first;
  }

  MilpOutcome nothing(const Candidate& incumbent) const {
    MilpOutcome outcome;
    outcome.best = incumbent;
    outcome.bounds.resize(ids_.size());
    return outcome;
  }

  const MilpPreparation& preparation_;
  const MakeEngine& make_engine_;
  std::vector<LevelId> ids_;
};

}  // namespace muster::engine
