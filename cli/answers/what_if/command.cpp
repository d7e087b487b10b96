// `muster what-if`: the plan of a cluster that is changed, before it is changed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "cli/answers/answers.h"
#include "cli/answers/cluster.h"
#include "cli/answers/what_if/answer.h"
#include "cli/answers/what_if/options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/text_table.h"
#include "model/base/tuning.h"
#include "solver/answers/experiment.h"
#include "solver/answers/remedies/search.h"

namespace muster::cli {
namespace {

constexpr DefaultBudget kBudget{std::chrono::seconds(1), "time budget of each of the two plans [1s]"};

}  // namespace

const CommandSyntax& what_if_syntax() {
  static const CommandSyntax syntax{
      "muster what-if [CHANGE...] [OPTION...]",
      "Plans the cluster as it is and as the changes make it, and shows the difference. Changes are applied in the\n"
      "order in which they are given. Exit code 1: a workload of --submit or --gang would not start.",
      with_change_options(with_answer_options(with_cluster_options(with_experiment_options(
          {{"no-remedies", "", "do not search for what would start a workload that would wait"},
           {"gap", "FRACTION", "stop once a plan is proven to be within this gap of the best [0]"}},
          kBudget)))),
      0, 0};
  return syntax;
}

namespace {

struct TimedRun {
  std::unique_ptr<answers::Run> run;
  double ms = 0;
};

class WhatIfRun {
 public:
  WhatIfRun(const Settings& settings, const answers::ExperimentOptions& options, const ClusterInput& cluster)
      : settings_(settings), options_(options), cluster_(cluster), portfolio_(kOwnProgram) {}

  // Prints the answer, and returns the exit code.
  int answer(const ChangedCluster& changed) {
    const TimedRun before = solve(cluster_.snapshot);
    if (!before.run) return kExitNoValidLine;
    const bool is_changed = !changed.changes.empty();
    const TimedRun after = is_changed ? solve(changed.snapshot) : TimedRun{};
    if (is_changed && !after.run) return kExitNoValidLine;
    const TimedRun& last = is_changed ? after : before;
    const std::optional<FoundRemedies> remedies = remedies_for(changed, *last.run);
    const WhatIfAnswer answer =
        what_if_answer({*before.run, *last.run, changed, before.ms, last.ms, !options_.solve.deterministic, remedies});
    return print(render(answer.document, render_options(settings_)), answer.starts ? kExitAnswered : kExitSomeErrors);
  }

 private:
  // Reports what keeps the snapshot from being planned, and returns null then.
  TimedRun solve(const Snapshot& snapshot) {
    answers::Experiment experiment(snapshot, portfolio_, options_);
    const auto begin = portfolio::Clock::now();
    Result<std::unique_ptr<answers::Run>> run = experiment.solve({});
    const double ms = std::chrono::duration<double, std::milli>(portfolio::Clock::now() - begin).count();
    if (run) return {*std::move(run), ms};
    complain_of("what-if", run.error());
    return {};
  }

  // Of the first workload that would wait; none if its queue is the reason, which a remark tells. Each plan gets a
  // small part of the time, since most are settled long before.
  std::optional<FoundRemedies> remedies_for(const ChangedCluster& changed, const answers::Run& run) {
    if (settings_.is_on("no-remedies")) return std::nullopt;
    const auto waits = [&](const std::string& name) {
      const auto gang = run.find_gang(name);
      return gang && !run.admits(*gang);
    };
    const auto first = std::ranges::find_if(changed.submitted, waits);
    if (first == changed.submitted.end()) return std::nullopt;
    const GangIndex gang = *run.find_gang(*first);
    if (run.report_on(gang)->reason.code == explain::ReasonCode::kUnknownQueue) return std::nullopt;
    answers::ExperimentOptions options = options_;
    options.budget /= kTuning.answers.variations;
    if (!options.solve.deterministic)
      options.end = portfolio::Clock::now() +
                    std::chrono::duration_cast<portfolio::Clock::duration>(kTuning.answers.remedies * options_.budget);
    answers::Experiment experiment(changed.snapshot, portfolio_, options);
    return FoundRemedies{*first, answers::find_remedies(experiment, run, gang)};
  }

  const Settings& settings_;
  answers::ExperimentOptions options_;
  const ClusterInput& cluster_;
  portfolio::Portfolio portfolio_;
};

}  // namespace

int run_what_if(int argc, const char* const* argv) {
  const Settings settings(what_if_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(what_if_syntax()), kExitAnswered);
  check_stdin(settings);
  const answers::ExperimentOptions options = experiment_options(settings, kBudget);
  static_cast<void>(render_options(settings));  // refuses before anything is read
  const std::variant<ClusterInput, int> read = read_cluster(settings);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const ClusterInput& cluster = std::get<ClusterInput>(read);
  const std::variant<ChangedCluster, int> made = changed_cluster(cluster, settings);
  if (const int* code = std::get_if<int>(&made)) return *code;
  const ChangedCluster& changed = std::get<ChangedCluster>(made);
  return WhatIfRun(settings, options, cluster).answer(changed);
}

}  // namespace muster::cli
