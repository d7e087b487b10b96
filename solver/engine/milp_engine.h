// The MILP engine: level by level, over node configurations that are listed completely if possible, else priced.
//
// Listed completely (small problems), every level is solved to its proven optimum. Priced (column generation after
// Gilmore and Gomory 1961, with the Lagrangian bound of Farley 1990 at every round), the first levels get a proven
// bound and CBC chooses among the columns that pricing has found. In between (tens of nodes), pricing gives a plan to
// start from, and CBC goes down the levels on a model with columns for all nodes (solver/engine/whole_model.h), which
// contains
// all plans. Either way a solution becomes a plan only through the fit test, and is compared with the incumbent by the
// levels.
#pragma once

#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "solver/cbc/backend.h"
#include "solver/engine/choice_stage.h"
#include "solver/engine/milp_engine_options.h"
#include "solver/engine/milp_outcome.h"
#include "solver/engine/preparation.h"

namespace muster::engine {

// Deterministic, all levels and passes share the deadline's limit of work, and each takes at most half of what is left.
// Never worse than `incumbent`. Evictions and moves are decided together with the placements. Where the configurations
// cannot be listed, a second pass keeps to the evictions found so far and only places: that is a smaller problem, in
// which diving works. Bounds are reported if the formulation holds every plan that obeys the rules
// (EvictionCandidates::complete).
MilpOutcome solve_milp(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                       cbc::Backend& backend, const MilpEngineOptions& options);
// `choice`: of the same preparation, made before; null: none.
MilpOutcome solve_milp(MilpPreparation& preparation, const Candidate& incumbent, cbc::Backend& backend,
                       const MilpEngineOptions& options, const ChoiceOutcome* choice = nullptr);

}  // namespace muster::engine
