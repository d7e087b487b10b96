#include "cli/answers/experiment_options.h"

#include "cli/line/line_options.h"

namespace muster::cli {

std::vector<OptionRow> with_experiment_options(std::vector<OptionRow> others, const DefaultBudget& budget) {
  const std::vector<OptionRow> rows = {
      {"budget", "DURATION", budget.help},
      {"engine", "NAME", "solver engine: auto, greedy or milp [auto]", kNoLetter, kEngines},
      {"threads", "N", "number of solver threads [the available cores]"},
      {"seed", "N", "random seed [1]"},
      {"deterministic", "", "equal input gives equal bytes: work limits instead of the clock"}};
  others.insert(others.end(), rows.begin(), rows.end());
  return others;
}

answers::ExperimentOptions experiment_options(const Settings& settings, const DefaultBudget& budget) {
  answers::ExperimentOptions options;
  options.solve = line_options(settings).solve;
  const auto given = settings.duration("budget");
  options.budget = given ? std::chrono::nanoseconds(*given) : budget.time;
  return options;
}

}  // namespace muster::cli
