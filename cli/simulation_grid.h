// Many simulations, one experiment a line, so that a sweep is lines like any other input: shards of it run on several
// machines, and what is answered is not run again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/line/line_source.h"
#include "cli/terminal/console.h"

namespace muster::cli {

struct GridOptions {
  std::string grid;                     // the file of the experiments; "-": stdin
  std::optional<std::string> workload;  // of experiments that name none
  std::optional<std::string> output;    // instead of stdout
  bool resumes = false;                 // goes on writing the output where an interrupted run stopped
  Shard shard;
  std::size_t max_line_bytes = 0;
};

// Answers each line, in order, with the experiment and the summary of its simulation, or what was wrong with it
// (docs/simulation.md, "Many experiments"). Each simulation is a process of its own. Returns an exit code. Throws
// UsageError.
int run_simulation_grid(const GridOptions& options, Console& console);

}  // namespace muster::cli
