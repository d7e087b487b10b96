// Options of the commands that solve variations of a cluster.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/terminal/options.h"
#include "solver/answers/experiment.h"

namespace muster::cli {

// The program itself, whatever has happened to its file since it was started.
inline constexpr const char* kOwnProgram = "/proc/self/exe";

// The rows of --budget, --engine, --threads, --seed and --deterministic; `others` come before them. The budget is that
// of the whole answer.
std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others);
// Their values. Throws UsageError.
answers::ExperimentOptions experiment_options(const Settings& settings);

}  // namespace muster::cli
