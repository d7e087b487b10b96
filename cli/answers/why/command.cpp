// `muster why`: why a gang waits and what would start it; without a name, all that waits.
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/answers/cluster.h"
#include "cli/answers/names.h"
#include "cli/answers/watch.h"
#include "cli/answers/why/all.h"
#include "cli/answers/why/gang.h"
#include "cli/answers/why/given_plan.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/text_table.h"
#include "model/base/tuning.h"
#include "model/objective/fair_share.h"
#include "solver/answers/remedies/search.h"
#include "solver/answers/shadow_prices.h"

namespace muster::cli {
namespace {

constexpr DefaultBudget kBudget{std::chrono::seconds(3), "time budget of the answer [3s]"};

}  // namespace

const CommandSyntax& why_syntax() {
  static const CommandSyntax syntax{
      "muster why [GANG] [OPTION...]",
      "Says why a gang waits: which nodes it could use and what excludes the others, what is in use there and why it "
      "may\n"
      "not be evicted, the place in its queue, and what would start it. GANG is the name of a gang, a pod, a Job, a\n"
      "Deployment, ... Without GANG: all that waits, by reason, and what one more node or GPU of quota would admit.",
      with_cluster_options(with_answer_options(with_experiment_options(
          {{"plan", "FILE", "explain the plan in FILE, which answers this snapshot, in place of a new one"},
           {"all", "", "without GANG: also find what would start each gang that waits"},
           {"no-remedies", "", "only explain; make no further plans"},
           watch_row()},
          kBudget))),
      0, 1};
  return syntax;
}

namespace {

WatchedAnswer fail(const InputError& error) { return {"", complain_of("why", error)}; }

class Why {
 public:
  Why(const Settings& settings, const ClusterInput& cluster, portfolio::Portfolio& portfolio)
      : settings_(settings),
        cluster_(cluster),
        portfolio_(portfolio),
        options_(experiment_options(settings, kBudget)),
        begun_(portfolio::Clock::now()) {}

  WatchedAnswer answer() {
    std::optional<std::string> name;
    if (!settings_.arguments().empty()) {
      const auto found = resolve_gang(cluster_.snapshot, settings_.arguments().front(), cluster_.namespace_name);
      if (!found) return fail(found.error());
      name = *found;
    }
    const auto base = base_run();
    if (!base) return fail(base.error());
    return name ? about_gang(**base, *name) : about_all(**base);
  }

 private:
  // A third of the time for the plan, the rest for its variations.
  Result<std::unique_ptr<answers::Run>> base_run() {
    if (const auto file = settings_.text("plan")) return run_of_plan(cluster_.snapshot, *file);
    answers::ExperimentOptions first = options_;
    first.budget /= 3;
    return answers::Experiment(cluster_.snapshot, portfolio_, first).solve({});
  }

  // Each plan gets a small part of what is left, since most of them are proven, or settled, long before.
  answers::ExperimentOptions of_variations() const {
    answers::ExperimentOptions options = options_;
    options.budget /= kTuning.answers.variations;
    if (!options.solve.deterministic)
      options.end = begun_ + std::chrono::duration_cast<portfolio::Clock::duration>(options_.budget);
    return options;
  }

  WatchedAnswer about_gang(answers::Run& run, const std::string& name) {
    const auto gang = run.find_gang(name);
    if (!gang) return fail({ErrorCode::kUnknownName, "$", fmt::format("the gang {} is left out of the plan", name)});
    const FairShares shares = compute_fair_shares(run.problem);
    settle_reason(run, *gang, shares);
    std::optional<answers::RemedyAnswer> remedies;
    if (!run.admits(*gang) && !settings_.is_on("no-remedies")) {
      answers::Experiment experiment(cluster_.snapshot, portfolio_, of_variations());
      remedies = answers::find_remedies(experiment, run, *gang);
    }
    AnswerDocument document("why");
    write_why_gang({run, *gang, shares, remedies}, document);
    return given(document);
  }

  WatchedAnswer about_all(const answers::Run& run) {
    answers::ShadowPrices prices;
    std::vector<std::pair<GangIndex, answers::RemedyAnswer>> remedies;
    if (!settings_.is_on("no-remedies")) {
      answers::Experiment experiment(cluster_.snapshot, portfolio_, of_variations());
      prices = answers::shadow_prices(experiment, run);
    }
    if (settings_.is_on("all")) {
      for (const GangIndex gang : waiting_gangs(run)) {
        answers::ExperimentOptions options = of_variations();
        options.end = portfolio::Clock::time_point::max();
        if (!options.solve.deterministic)
          options.end =
              portfolio::Clock::now() + std::chrono::duration_cast<portfolio::Clock::duration>(options_.budget);
        answers::Experiment experiment(cluster_.snapshot, portfolio_, options);
        remedies.emplace_back(gang, answers::find_remedies(experiment, run, gang));
      }
    }
    AnswerDocument document("why");
    write_why_all({run, prices, remedies}, document);
    return given(document);
  }

  WatchedAnswer given(const AnswerDocument& document) const {
    return {render(document, render_options(settings_)), kExitAnswered, cluster_.remarks};
  }

  const Settings& settings_;
  const ClusterInput& cluster_;
  portfolio::Portfolio& portfolio_;
  answers::ExperimentOptions options_;
  portfolio::Clock::time_point begun_;
};

}  // namespace

int run_why(int argc, const char* const* argv) {
  const Settings settings(why_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(why_syntax()), kExitAnswered);
  std::vector<std::string> sources{cluster_source(settings)};
  if (const auto plan = settings.text("plan")) sources.push_back(*plan);
  portfolio::Portfolio portfolio(kOwnProgram);
  return give_answer(settings, sources, [&]() -> WatchedAnswer {
    const auto cluster = read_cluster(settings);
    if (const int* code = std::get_if<int>(&cluster)) return {"", *code};
    return Why(settings, std::get<ClusterInput>(cluster), portfolio).answer();
  });
}

}  // namespace muster::cli
