// Chooses gangs and victims first, then finds their places with the least moved work.
#pragma once

#include <vector>

#include "heuristics/state/candidate.h"
#include "model/objective/levels.h"
#include "solver/cbc/backend.h"
#include "solver/choice/choice.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/engine/milp_outcome.h"
#include "solver/engine/preparation.h"

namespace muster::engine {

struct ChoiceOutcome {
  MilpOutcome outcome;                      // of the places; without bounds
  std::vector<choice::ChosenLevel> levels;  // the first ones, if their bounds hold for all plans
};

// Never worse than `start`, which obeys the rules; without a choice in time it is `start`. Depends on no other engine,
// so it may run beside one. Cost: solver/choice/choice.h and solver/slots/slots.h.
ChoiceOutcome choose_and_place(const MilpPreparation& preparation, const Candidate& start, cbc::Backend& backend,
                               const MilpEngineOptions& options);

// The better of the incumbent and the choice's plan, with the bounds of the choice as far as they hold for it: they end
// with the first level in which it is not what was chosen.
MilpOutcome outcome_for(const Candidate& incumbent, const ChoiceOutcome& choice, const std::vector<LevelId>& ids);

}  // namespace muster::engine
