// `muster top`: what a cluster is used for now.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answers/answers.h"
#include "cli/answers/overview.h"
#include "cli/answers/table_order.h"
#include "cli/answers/top_tables.h"
#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "model/build/build_problem.h"
#include "solver/portfolio/portfolio.h"

namespace muster::cli {
namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";
constexpr std::array<std::string_view, 4> kSections = {"queues", "gpus", "gangs", "nodes"};
constexpr std::size_t kShortRows = 5, kLongRows = 30;  // of tables of all sections, and of one

}  // namespace

const CommandSyntax& top_syntax() {
  static const CommandSyntax syntax{
      "muster top [queues|gpus|gangs|nodes] [SNAPSHOT] [OPTION...]",
      "Shows what a cluster is used for: queues, GPUs by model, gangs, nodes with free GPUs; without a section, all.\n"
      "Reads the last line of SNAPSHOT; without it, or for -, of stdin.",
      with_policy_options(with_answer_options(
          {{"sort", "COLUMN", "sort the section by this column: numbers descending, texts ascending"},
           {"limit", "N", "show at most N rows of each table"},
           {"watch", "SECONDS", "read SNAPSHOT again at this interval, and print again when it has changed"},
           {"plans", "FILE", "take reasons from the plan of the snapshot in FILE"},
           {"solve", "", "solve the snapshot, to show the reasons why gangs wait"},
           {"budget", "DURATION", "time budget of --solve if the policy does not set one (default 1s)"},
           {"engine", "NAME", "engine of --solve: auto, greedy or milp (default auto)", kNoLetter, kEngines},
           {"threads", "N", "number of solver threads of --solve (default: the available cores)"},
           {"deterministic", "", "--solve by limits of counted work instead of the clock"},
           {"lenient", "", "ignore keys that the format does not define"},
           {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
           duration_annotation_row(),
           {"time", "INSTANT", "current time for Kubernetes objects (default: as for solve)"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}})),
      0, 2};
  return syntax;
}

namespace {

struct TopOptions {
  std::optional<std::string_view> section;  // none: all
  std::string file = "-";
  std::optional<std::string> plans, sort;
  std::optional<std::size_t> limit;
  std::optional<Nanoseconds> watch;
  bool solves = false;
  muster_v1::ReaderOptions reader;
  LineOptions line;
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
  options.watch = settings.duration("watch");
  options.solves = settings.is_on("solve");
  options.reader = reader_options(settings);
  options.line = line_options(settings);
  options.render = render_options(settings);
  if (options.sort && !options.section) throw UsageError("--sort: name a section, such as 'muster top gangs'");
  if (options.plans && options.solves) throw UsageError("--plans: either take reasons from plans, or --solve");
  if (options.watch && options.file == "-") throw UsageError("--watch: stdin cannot be read again; name a file");
  if (options.plans == "-" && options.file == "-") throw UsageError("stdin can be read only once");
  return options;
}

int report(std::string_view message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster top: {}\n", message));
  return exit_code;
}

struct Cluster {
  Snapshot snapshot;
  Problem problem;  // refers to the snapshot
};

// What could not be read is reported on stderr.
struct ReadCluster {
  std::unique_ptr<Cluster> cluster;  // none: it could not be read
  int exit_code = kExitAnswered;
};

// Of the last line of the file.
ReadCluster read_cluster(const TopOptions& options) {
  LineSource source({options.file}, {options.reader.max_line_bytes, wake_descriptor()});
  std::string text;
  bool is_of_stdin = false;
  std::int64_t number = 0;
  while (const auto line = source.next()) {
    text = line->text;
    number = line->number;
    is_of_stdin = line->is_of_stdin;
  }
  if (received_signal() != 0) return {nullptr, kExitSignalled + received_signal()};
  if (!source.failure().empty()) return {nullptr, report(source.failure(), kExitNoInput)};
  if (number == 0) return {nullptr, report("the input contains no line", kExitNoInput)};
  muster_v1::SnapshotReader reader(options.reader);
  ParsedLine line = parse_line(reader, text, number, is_of_stdin ? TimeSource::kClock : TimeSource::kObjects);
  const auto refuse = [&](const InputError& error) {
    return report(
        fmt::format("{}: line {}: {}: {}", escaped(options.file), number, escaped(error.path), escaped(error.message)),
        kExitNoValidLine);
  };
  if (!line.snapshot) return {nullptr, refuse(line.snapshot.error())};
  auto cluster = std::make_unique<Cluster>();
  cluster->snapshot = std::move(*line.snapshot);
  Result<Problem> problem = build_problem(cluster->snapshot, options.line.solve.threads);
  if (!problem) return {nullptr, refuse(problem.error())};
  cluster->problem = std::move(*problem);
  return {std::move(cluster), kExitAnswered};
}

struct ReadOutcomes {
  std::optional<GangOutcomes> outcomes;
  std::string note;  // why there are none; may be empty
  int exit_code = kExitAnswered;
};

// Of the last plan line that answers the snapshot.
ReadOutcomes read_outcomes(const std::string& file, std::string_view id) {
  LineSource source({file}, {});
  ReadOutcomes read;
  while (const auto line = source.next()) {
    const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line->text, nullptr);
    if (!plan) {
      report(fmt::format("{}: line {}: {}: {}", escaped(file), line->number, escaped(plan.error().path),
                         escaped(plan.error().message)),
             0);
    } else if (!plan->is_error && plan->id == id) {
      read.outcomes = outcomes_of(*plan);
    }
  }
  if (!source.failure().empty()) read.exit_code = report(source.failure(), kExitNoInput);
  if (!read.outcomes) read.note = fmt::format("{} has no plan of the snapshot '{}'", file, id);
  return read;
}

GangOutcomes solve_outcomes(const Cluster& cluster, const LineOptions& options, portfolio::Portfolio& portfolio) {
  portfolio::SolveOptions solve = options.solve;
  const std::chrono::nanoseconds budget(cluster.snapshot.policy.budget.value_or(options.budget));
  if (!solve.deterministic) solve.deadline = portfolio::Clock::now() + budget;
  return outcomes_of(cluster.problem, portfolio.solve(cluster.snapshot, cluster.problem, solve).report);
}

Table section_table(std::string_view section, const Cluster& cluster, const Overview& overview,
                    const std::optional<GangOutcomes>& outcomes) {
  if (section == "queues") return queue_table(cluster.problem, overview);
  if (section == "gpus") return device_table(overview);
  if (section == "gangs") return gang_table(cluster.problem, overview, outcomes);
  return node_table(cluster.problem, overview);
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
  if (removed > 0) document.add_note(fmt::format("{} more {}", removed, key), Meaning::kDim);
}

// Prints one cluster after the other.
class Top {
 public:
  explicit Top(TopOptions options) : options_(std::move(options)) {}

  // Reads the cluster and prints it; returns the exit code.
  int show() {
    const ReadCluster read = read_cluster(options_);
    if (!read.cluster) return read.exit_code;
    const Cluster& cluster = *read.cluster;
    ReadOutcomes outcomes;
    if (options_.plans) outcomes = read_outcomes(*options_.plans, cluster.snapshot.id);
    if (outcomes.exit_code != kExitAnswered) return outcomes.exit_code;
    if (options_.solves) outcomes.outcomes = solve_outcomes(cluster, options_.line, portfolio());
    const Overview overview = overview_of(cluster.problem);
    AnswerDocument document("top");
    add_totals(cluster.problem, overview, document);
    for (const std::string_view section : kSections) {
      if (options_.section && *options_.section != section) continue;
      add_section(section_table(section, cluster, overview, outcomes.outcomes), options_, document);
    }
    if (!outcomes.note.empty()) document.add_note(outcomes.note, Meaning::kWarning);
    return print_again(render(document, options_.render));
  }

  // Shows the files whenever they have changed, until a signal is received or the output fails. A file that cannot be
  // read for now, as while it is being replaced, is waited for.
  int watch() {
    std::optional<Versions> shown;
    while (received_signal() == 0) {
      const Versions now = {version(options_.file), version(options_.plans.value_or(options_.file))};
      const bool is_there = now[0] && now[1];
      if (!shown || (is_there && now != *shown)) {
        const int code = show();
        if (code == kExitCannotWrite || (code != kExitAnswered && !shown)) return code;
        shown = now;
      }
      wait(*options_.watch);
    }
    return kExitSignalled + received_signal();
  }

 private:
  struct Version {
    dev_t device;
    ino_t number;
    off_t bytes;
    std::int64_t seconds, nanoseconds;
    friend bool operator==(const Version&, const Version&) = default;
  };

  using Versions = std::array<std::optional<Version>, 2>;

  // None: there is no such file now.
  static std::optional<Version> version(const std::string& file) {
    struct stat found {};
    if (stat(file.c_str(), &found) != 0) return std::nullopt;
    return Version{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
  }

  static void wait(Nanoseconds interval) {
    constexpr Nanoseconds kMillisecond = kNanosecondsPerSecond / 1000;
    const Nanoseconds most = std::numeric_limits<int>::max();
    pollfd wake{wake_descriptor(), POLLIN, 0};
    poll(&wake, 1, static_cast<int>(std::clamp<Nanoseconds>(interval / kMillisecond, 1, most)));
  }

  portfolio::Portfolio& portfolio() {
    if (!portfolio_) portfolio_ = std::make_unique<portfolio::Portfolio>(kOwnProgram);
    return *portfolio_;
  }

  // On a terminal that is watched, in place of what was there.
  int print_again(std::string text) {
    if (options_.watch && is_terminal(STDOUT_FILENO)) text = "\x1b[H\x1b[2J" + text;
    if (options_.watch && !is_terminal(STDOUT_FILENO) && printed_ && options_.render.format != AnswerFormat::kJson) {
      text = "\n" + text;
    }
    printed_ = true;
    return print(text, kExitAnswered);
  }

  TopOptions options_;
  std::unique_ptr<portfolio::Portfolio> portfolio_;
  bool printed_ = false;
};

}  // namespace

int run_top(int argc, const char* const* argv) {
  const Settings settings(top_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(top_syntax()), kExitAnswered);
  TopOptions options = top_options(settings);
  install_interrupt();
  const bool is_watched = options.watch.has_value();
  Top top(std::move(options));
  return is_watched ? top.watch() : top.show();
}

}  // namespace muster::cli
