#include "cli/line_options.h"

#include <cstdint>
#include <limits>
#include <string>

#include "model/parallel.h"

namespace muster {

LineOptions line_options(const Settings& settings) {
  LineOptions options;
  options.budget = settings.duration("budget").value_or(options.budget);
  SolveOptions& solve = options.solve;
  const std::string engine = settings.choice("engine", {"auto", "greedy", "milp"});
  solve.engine = engine == "greedy" ? Engine::kGreedy : engine == "milp" ? Engine::kMilp : Engine::kAuto;
  solve.threads = static_cast<std::int32_t>(settings.integer("threads", 1, 1024).value_or(usable_cores()));
  solve.seed =
      static_cast<std::uint64_t>(settings.integer("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(1));
  solve.gap = settings.fraction("gap").value_or(0);
  solve.deterministic = settings.is_on("deterministic");
  solve.write_model = settings.text("write-model").value_or("");
  return options;
}

ReaderOptions reader_options(const Settings& settings) {
  ReaderOptions options;
  options.lenient = settings.is_on("lenient");
  options.strict = options.kubernetes.strict = settings.is_on("strict");
  options.kubernetes.time = settings.instant("time");
  const auto max_line = settings.integer("max-line-bytes", 1, std::int64_t{1} << 32);
  if (max_line) options.max_line_bytes = static_cast<std::size_t>(*max_line);
  return options;
}

}  // namespace muster
