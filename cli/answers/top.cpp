// `muster top`: what a cluster is used for now.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/answers/cluster.h"
#include "cli/answers/overview.h"
#include "cli/answers/top_tables.h"
#include "cli/answers/watch.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "model/base/words.h"
#include "model/build/build_problem.h"
#include "solver/portfolio/portfolio.h"

namespace muster::cli {
namespace {

constexpr std::array<std::string_view, 4> kSections = {"queues", "gpus", "gangs", "nodes"};
constexpr std::size_t kShortRows = 5, kLongRows = 30;  // of tables of all sections, and of one
constexpr DefaultBudget kBudget{std::chrono::seconds(1), "time budget of --solve if the policy does not set one [1s]"};

}  // namespace

const CommandSyntax& top_syntax() {
  static const CommandSyntax syntax{
      "muster top [queues|gpus|gangs|nodes] [SNAPSHOT] [OPTION...]",
      "Shows what a cluster is used for: queues, GPUs by model, gangs, nodes with free GPUs; without a section, all.\n"
      "SNAPSHOT is short for --from SNAPSHOT.",
      with_cluster_options(with_answer_options(with_experiment_options(
          {{"sort", "COLUMN", "sort the section by this column: numbers descending, texts ascending"},
           {"limit", "N", "show at most N rows of each table"},
           watch_row(),
           {"plans", "FILE", "take reasons from the plan of the snapshot in FILE"},
           {"solve", "", "solve the snapshot, to show the reasons why gangs wait"}},
          kBudget))),
      0, 2};
  return syntax;
}

namespace {

struct TopOptions {
  std::optional<std::string_view> section;  // none: all
  std::optional<std::string> file;          // none: --from
  std::optional<std::string> plans, sort;
  std::optional<std::size_t> limit;
  bool solves = false;
  answers::ExperimentOptions experiment;
  RenderOptions render;
};

TopOptions top_options(const Settings& settings) {
  TopOptions options;
  std::vector<std::string> arguments = settings.arguments();
  if (!arguments.empty()) {
    const auto* section = std::ranges::find(kSections, arguments.front());
    if (section != kSections.end()) {
      options.section = *section;
      arguments.erase(arguments.begin());
    }
  }
  if (arguments.size() > 1) {
    throw UsageError(
        fmt::format("unknown section '{}'; sections are {}", escaped(arguments.front()), fmt::join(kSections, ", ")));
  }
  if (!arguments.empty()) options.file = arguments.front();
  options.plans = settings.text("plans");
  options.sort = settings.text("sort");
  const auto limit = settings.integer("limit", 0, std::numeric_limits<std::int32_t>::max());
  if (limit) options.limit = static_cast<std::size_t>(*limit);
  options.solves = settings.is_on("solve");
  options.experiment = experiment_options(settings, kBudget);
  options.render = render_options(settings);
  if (options.sort && !options.section) throw UsageError("--sort: name a section, such as 'muster top gangs'");
  if (options.plans && options.solves) throw UsageError("--plans: either take reasons from plans, or --solve");
  return options;
}

int report(std::string_view message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster top: {}\n", message));
  return exit_code;
}

struct ReadStates {
  std::optional<GangStates> states;
  std::string note;  // why there are none; may be empty
  int exit_code = kExitAnswered;
};

// Of the last plan line that answers the snapshot.
ReadStates read_states(const std::string& file, std::string_view id) {
  LineSource source({file}, {});
  ReadStates read;
  while (const auto line = source.next()) {
    const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line->text, nullptr);
    if (!plan) {
      report(fmt::format("{}: line {}: {}: {}", escaped(file), line->number, escaped(plan.error().path),
                         escaped(plan.error().message)),
             0);
    } else if (!plan->is_error && plan->id == id) {
      read.states = states_of(*plan);
    }
  }
  if (!source.failure().empty()) read.exit_code = report(source.failure(), kExitNoInput);
  if (!read.states) read.note = fmt::format("{} has no plan of the snapshot '{}'", file, id);
  return read;
}

GangStates solve_states(const Problem& problem, const Snapshot& snapshot, const answers::ExperimentOptions& options,
                        portfolio::Portfolio& portfolio) {
  portfolio::SolveOptions solve = options.solve;
  std::chrono::nanoseconds budget = options.budget;
  if (const auto set = snapshot.policy.budget) budget = std::chrono::nanoseconds(*set);
  if (!solve.deterministic) solve.deadline = portfolio::Clock::now() + budget;
  return states_of(problem, portfolio.solve(snapshot, problem, solve).report);
}

Table section_table(std::string_view section, const Problem& problem, const Overview& overview,
                    const std::optional<GangStates>& states) {
  if (section == "queues") return queue_table(problem, overview);
  if (section == "gpus") return device_table(overview);
  if (section == "gangs") return gang_table(problem, overview, states);
  return node_table(problem, overview);
}

// The table as the options request it.
void add_section(Table table, const TopOptions& options, AnswerDocument& document) {
  if (options.sort && !sort_rows(table, *options.sort)) {
    throw UsageError(fmt::format("--sort: unknown column '{}'; columns are {}", escaped(*options.sort),
                                 fmt::join(sortable_columns(table), ", ")));
  }
  table.most_rows = options.section ? kLongRows : kShortRows;
  std::size_t removed = 0;
  if (options.limit) {
    table.most_rows = 0;
    removed = limit_rows(table, *options.limit);
  }
  const std::string key = table.key;
  document.add_table(std::move(table));
  if (removed > 0)
    document.add_note(counted(static_cast<std::int64_t>(removed), "more " + key.substr(0, key.size() - 1)),
                      Meaning::kDim);
}

// Shows one cluster after the other.
class Top {
 public:
  Top(const Settings& settings, const TopOptions& options) : settings_(settings), options_(options) {}

  WatchedAnswer answer() {
    std::variant<ClusterInput, int> read = read_cluster(settings_, options_.file);
    if (const int* code = std::get_if<int>(&read)) return {"", *code};
    ClusterInput& cluster = std::get<ClusterInput>(read);
    const Result<Problem> problem = build_problem(cluster.snapshot, options_.experiment.solve.threads);
    if (!problem) return {"", complain_of("top", problem.error())};
    const ReadStates states = states_for(*problem, cluster.snapshot);
    if (states.exit_code != kExitAnswered) return {"", states.exit_code};
    return {render(document_of(*problem, states), options_.render), kExitAnswered, std::move(cluster.remarks)};
  }

 private:
  ReadStates states_for(const Problem& problem, const Snapshot& snapshot) {
    if (options_.plans) return read_states(*options_.plans, snapshot.id);
    if (!options_.solves) return {};
    if (!portfolio_) portfolio_ = std::make_unique<portfolio::Portfolio>(kOwnProgram);
    return {solve_states(problem, snapshot, options_.experiment, *portfolio_), "", kExitAnswered};
  }

  AnswerDocument document_of(const Problem& problem, const ReadStates& states) const {
    const Overview overview = overview_of(problem);
    AnswerDocument document("top");
    add_totals(problem, overview, document);
    for (const std::string_view section : kSections) {
      if (options_.section && *options_.section != section) continue;
      add_section(section_table(section, problem, overview, states.states), options_, document);
    }
    if (!states.note.empty()) document.add_note(states.note, Meaning::kWarning);
    return document;
  }

  const Settings& settings_;
  const TopOptions& options_;
  std::unique_ptr<portfolio::Portfolio> portfolio_;
};

}  // namespace

int run_top(int argc, const char* const* argv) {
  const Settings settings(top_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(top_syntax()), kExitAnswered);
  const TopOptions options = top_options(settings);
  std::vector<std::string> sources{cluster_source(settings, options.file)};
  if (options.plans) sources.push_back(*options.plans);
  Top top(settings, options);
  return give_answer(settings, sources, [&] { return top.answer(); });
}

}  // namespace muster::cli
