// What each stage of the MILP engine gets of the time, or without a clock of the work, that is left when it begins.
#pragma once

#include "model/base/tuning.h"

namespace muster {

// Parts in 0 .. 1.
struct BlockParts {
  double grids = kTuning.parts.main;   // pricing on grids of multipliers
  double round = kTuning.parts.most;   // one call of column generation over all blocks
  double plans = kTuning.parts.aside;  // of the time since the last plan: making plans of its solutions
};

struct MilpParts {
  double formulating = kTuning.parts.half;       // a model that takes longer could not be solved in time
  double choosing = kTuning.parts.main;          // gangs and victims, before their places
  double placing = kTuning.parts.half;           // of a choice
  double dealing = kTuning.parts.most;           // of the same time, until every pod has its place
  double listing = kTuning.parts.half;           // of configurations: what takes longer is given up
  double without_columns = kTuning.parts.aside;  // priced columns, before columns for all nodes
  double first_bound = kTuning.parts.most;       // by sums, with first prices
  double pricing_whole = kTuning.parts.main;     // column generation on one level
  double cbc_all_nodes = kTuning.parts.most;     // CBC on one level with columns for all nodes
  double cbc_work = kTuning.parts.half;          // of the counted work, without a clock
  double relief = kTuning.parts.aside;           // fewer victims of a better plan
  BlockParts blocks{};
};

}  // namespace muster
