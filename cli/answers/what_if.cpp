// `muster what-if`: the plan of a cluster that is changed, before it is changed.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/answers/cluster.h"
#include "cli/answers/what_if_answer.h"
#include "cli/answers/what_if_options.h"
#include "cli/line/line_options.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "solver/answers/experiment.h"

namespace muster::cli {
namespace {

// The program itself, whatever has happened to its file since it was started.
constexpr const char* kOwnProgram = "/proc/self/exe";

const CommandSyntax& what_if_syntax() {
  static const CommandSyntax syntax{
      "muster what-if [CHANGE...] [OPTION...]",
      "Plans the cluster as it is and as the changes make it, and shows the difference. Changes are applied in the\n"
      "order in which they are given. Exit code 1: a workload of --submit or --gang would not start.",
      with_change_options(with_answer_options(with_cluster_options(
          {{"budget", "DURATION", "time budget of each of the two plans (default 1s)"},
           {"engine", "NAME", "solver engine: auto, greedy or milp (default auto)"},
           {"threads", "N", "number of solver threads (default: the available cores)"},
           {"seed", "N", "random seed (default 1)"},
           {"gap", "FRACTION", "stop once a plan is proven to be within this gap of the best (default 0)"},
           {"deterministic", "", "equal input gives equal bytes: work limits instead of the clock, no timings"}}))),
      0, 0};
  return syntax;
}

struct TimedRun {
  std::unique_ptr<answers::Run> run;
  double ms = 0;
};

// Reports what keeps the snapshot from being planned, and returns null then.
TimedRun solve(answers::Experiment& experiment, Snapshot snapshot) {
  const auto begin = std::chrono::steady_clock::now();
  Result<std::unique_ptr<answers::Run>> run = experiment.solve(std::move(snapshot), {});
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (run) return {*std::move(run), ms};
  write_all(STDERR_FILENO,
            fmt::format("muster what-if: {}: {}\n", escaped(run.error().path), escaped(run.error().message)));
  return {};
}

}  // namespace

int run_what_if(int argc, const char* const* argv) {
  const Settings settings(what_if_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(what_if_syntax()), kExitAnswered);
  check_stdin(settings);
  const LineOptions options = line_options(settings);
  const RenderOptions render_as = render_options(settings);
  const std::variant<ClusterInput, int> read = read_cluster(settings);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const ClusterInput& cluster = std::get<ClusterInput>(read);
  std::variant<ChangedCluster, int> made = changed_cluster(cluster, settings);
  if (const int* code = std::get_if<int>(&made)) return *code;
  ChangedCluster& changed = std::get<ChangedCluster>(made);

  portfolio::Portfolio portfolio(kOwnProgram);
  answers::Experiment experiment(cluster.snapshot, portfolio, {options.solve, std::chrono::nanoseconds(options.budget)});
  const TimedRun before = solve(experiment, Snapshot(cluster.snapshot));
  if (!before.run) return kExitNoValidLine;
  const bool is_changed = !changed.changes.empty();
  const TimedRun after = is_changed ? solve(experiment, std::move(changed.snapshot)) : TimedRun{};
  if (is_changed && !after.run) return kExitNoValidLine;
  const TimedRun& last = is_changed ? after : before;
  const WhatIfAnswer answer = what_if_answer(
      {*before.run, *last.run, changed, before.ms, last.ms, !options.solve.deterministic});
  return print(render(answer.document, render_as), answer.starts ? kExitAnswered : kExitSomeErrors);
}

}  // namespace muster::cli
