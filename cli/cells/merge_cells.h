// `muster merge --cells`: one plan of a whole cluster out of the plans of its cells.
#pragma once

#include "cli/terminal/console.h"
#include "cli/terminal/options.h"

namespace muster::cli {

// An exit code; kExitSomeErrors: the plan is written, but a cell has no plan, or one that was not taken.
int merge_cells(const Settings& settings, Console& console);

}  // namespace muster::cli
