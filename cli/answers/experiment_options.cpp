#include "cli/answers/experiment_options.h"

#include "cli/line/line_options.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kBudget(800);  // with reading and writing, an answer within a second

}  // namespace

std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others) {
  const std::vector<OptionRow> rows = {
      {"budget", "DURATION", "time budget of the answer [800ms]"},
      {"engine", "NAME", "solver engine: auto, greedy or milp [auto]", kNoLetter, kEngines},
      {"threads", "N", "number of solver threads [the available cores]"},
      {"seed", "N", "random seed [1]"},
      {"deterministic", "", "equal input gives equal bytes: work limits instead of the clock"}};
  others.insert(others.end(), rows.begin(), rows.end());
  return others;
}

answers::ExperimentOptions experiment_options(const Settings& settings) {
  const LineOptions line = line_options(settings);
  answers::ExperimentOptions options;
  options.solve = line.solve;
  options.budget = settings.duration("budget") ? std::chrono::nanoseconds(line.budget) : kBudget;
  return options;
}

}  // namespace muster::cli
