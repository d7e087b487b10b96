// What the MILP engine is given beside a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "heuristics/state/candidate.h"
#include "model/base/tuning.h"
#include "solver/budget/deadline.h"
#include "solver/budget/milp_parts.h"
#include "solver/column_generation/price_memory.h"
#include "solver/lp/sum_bounds.h"

namespace muster::engine {

// Up to which size a problem is solved in which way.
struct MilpSizes {
  // Listed whole: intermediate states of all residual classes, and columns.
  std::size_t states = kTuning.listing.most_states, columns = kTuning.listing.most_columns;
  // Given to CBC whole, if it cannot be listed: integer columns of a model of all nodes.
  std::size_t node_columns = kTuning.listing.most_columns;
  // With more residual classes than that, blocks of them are priced, about so many.
  std::size_t residuals = kTuning.size.many_kinds, blocks = kTuning.generation.blocks;
};

struct MilpEngineOptions {
  Deadline deadline;
  double gap = 0;  // relative; good enough for a level
  std::int32_t threads = 1;
  Tracer* trace = nullptr;  // outlives the call; null: no trace
  column_generation::PriceMemory* memory =
      nullptr;                        // of the cycles before, and for the next one; outlives the call; null: none
  std::vector<std::int64_t> trivial;  // trivial_bounds of the problem; empty: not known yet
  MilpSizes most = {};
  double levels_time = 1;                    // that the levels which are open take of the time that all levels would
  MilpParts parts{};                         // of the time or work left, for each stage
  std::set<std::string_view> left_out = {};  // stages that are not run, see portfolio::SolveOptions
  bool runs(std::string_view stage) const { return !left_out.contains(stage); }
  // A plan of an engine beside this one, since the last time; may be empty.
  std::function<std::optional<Candidate>()> newer = {};
  const lp::SumBounds* sums = nullptr;  // of the problem; outlives the call; null: not known
};

}  // namespace muster::engine
