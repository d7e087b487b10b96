// The MILP engine: level by level, over node configurations that are listed whole where that is possible and priced
// where not.
//
// Listed whole (small problems), every level is solved to its proven optimum. Priced (column generation after Gilmore
// and Gomory 1961, with the Lagrangian bound of Farley 1990 at every round), the first levels get a proven bound and
// CBC chooses among the columns that pricing has found. In between (tens of nodes), pricing gives a plan to start from,
// and CBC goes down the levels on a model with columns for all nodes (solver/whole_model.h), which knows all plans.
// Either way a solution becomes a plan only through the fit test, and is compared with the incumbent by the levels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/greedy.h"
#include "model/fair_share.h"
#include "model/levels.h"
#include "model/problem.h"
#include "solver/backend.h"
#include "solver/deadline.h"
#include "solver/groundwork.h"
#include "solver/price_memory.h"
#include "solver/sum_bounds.h"
#include "solver/trace.h"

namespace muster {

struct MilpEngineOptions {
  Deadline deadline;
  double gap = 0;  // relative; good enough for a level
  std::int32_t threads = 1;
  std::string write_model;            // path for the first model as an MPS file; empty: none
  Tracer* trace = nullptr;            // outlives the call; null: nobody is told
  PriceMemory* memory = nullptr;      // of the cycles before, and for the next one; outlives the call; null: none
  std::vector<std::int64_t> trivial;  // trivial_bounds of the problem; empty: not known yet
  // What may be listed whole: intermediate states of all room classes, and columns.
  std::size_t most_states = 200'000, most_columns = 20'000;
  // What may be given to CBC whole, if it cannot be listed: integer columns of a model of all nodes.
  std::size_t most_node_columns = kMostNodeColumns;
  // With more rooms than that, blocks of them are priced, about so many; first with a sample of each, if it is small.
  std::size_t most_rooms = 300, most_blocks = 200, sampled_rooms = 2;
  const SumBounds* sums = nullptr;  // of the problem; outlives the call; null: not known
};

struct MilpOutcome {
  Candidate best;                                   // the incumbent, or something better
  bool improved = false;                            // by this engine
  std::vector<std::optional<std::int64_t>> bounds;  // by level, in its scale; each given the plan's values before it
  std::vector<std::string> defects;                 // what went wrong on the way: workers that died
};

// Deterministic, all levels and passes share the deadline's limit of work, and each takes at most half of what is left.
// Never worse than `incumbent`. Who is evicted or moved is decided beside the placements. Where the configurations
// cannot be listed, a second pass keeps to the evictions found so far and only places: that is a smaller problem, in
// which diving works. Bounds are told where the formulation holds every plan that obeys the rules (Leavers::complete).
MilpOutcome solve_milp(const Problem& problem, const FairShares& shares, const Candidate& incumbent, Backend& backend,
                       const MilpEngineOptions& options);
MilpOutcome solve_milp(MilpGroundwork& groundwork, const Candidate& incumbent, Backend& backend,
                       const MilpEngineOptions& options);

}  // namespace muster
