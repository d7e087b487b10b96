// Options of the commands that solve variations of a cluster.
#pragma once

#include <chrono>
#include <vector>

#include "cli/terminal/options.h"
#include "solver/answers/experiment.h"

namespace muster::cli {

// The budget if --budget is not given, and the help of its row, which states it.
struct DefaultBudget {
  std::chrono::milliseconds time;
  const char* help;
};
// With reading and writing, an answer within a second.
inline constexpr DefaultBudget kAnswerBudget{std::chrono::milliseconds(800), "time budget of the answer [800ms]"};

// The rows of --budget, --engine, --threads, --seed and --deterministic; `others` come before them.
std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others,
                                               const DefaultBudget& budget = kAnswerBudget);
// Their values, and that of --gap if the command has it. Throws UsageError.
answers::ExperimentOptions experiment_options(const Settings& settings, const DefaultBudget& budget = kAnswerBudget);

}  // namespace muster::cli
