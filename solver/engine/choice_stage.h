// Chooses gangs and victims first, then finds their places with the least moved work.
#pragma once

#include "heuristics/state/candidate.h"
#include "solver/cbc/backend.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/engine/milp_outcome.h"
#include "solver/engine/preparation.h"

namespace muster::engine {

// Never worse than `incumbent`. The outcome's bounds hold given its plan's values of the levels before, as always; they
// end with the first level in which the plan is short of the choice. Without a choice in time, the incumbent and no
// bounds. Cost: solver/choice/choice.h and solver/slots/slots.h.
MilpOutcome choose_and_place(const MilpPreparation& preparation, const Candidate& incumbent, cbc::Backend& backend,
                             const MilpEngineOptions& options);

}  // namespace muster::engine
