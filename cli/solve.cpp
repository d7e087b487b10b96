#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/answers/cluster.h"
#include "cli/commands.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/line/pipeline.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/plan_line.h"

namespace muster::cli {
namespace {

CommandSyntax with_cluster_source(CommandSyntax syntax) {
  const std::vector<OptionRow> rows = cluster_source_rows();
  syntax.options.insert(syntax.options.end(), rows.begin(), rows.end());
  return syntax;
}

}  // namespace

const CommandSyntax& solve_syntax() {
  static const CommandSyntax syntax = with_cluster_source(
      {"muster solve [FILE...] [OPTION...]",
       "Reads one snapshot per line (muster/v1) and writes one plan per line, in order. Without FILE, or for -, reads "
       "stdin.",
       with_policy_options(with_shard_options(
           {{"budget", "DURATION", "time budget of a plan if its policy does not set one (default 1s)"},
            {"engine", "NAME", "solver engine: auto, greedy or milp (default auto)", kNoLetter, kEngines},
            {"threads", "N", "number of solver threads (default: the available cores)"},
            {"seed", "N", "random seed (default 1)"},
            {"start", "FILE", "plans that every plan starts from, as far as its snapshot has their pods and nodes"},
            {"gap", "FRACTION", "stop once the plan is proven to be within this gap of the best (default 0)"},
            {"deterministic", "", "equal input gives equal bytes: work limits instead of the clock, no timings"},
            remedies_row(),
            {"write-model", "PATH", "write the models as MPS: to a file the first of each snapshot, to a folder all"},
            {"trace", "FILE", "write each improvement of the plan and of its bounds as JSON Lines; see docs/cli.md"},
            {"output-format", "NAME", "format of the plans: json or table (default: table on a terminal, else json)",
             'o', "json table"},
            {"output", "FILE", "write the plans to FILE instead of stdout, as JSON unless -o table is given"},
            {"resume", "", "go on writing FILE of --output where an interrupted run stopped"},
            {"lenient", "", "ignore keys that the format does not define"},
            {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
            duration_annotation_row(),
            {"time", "INSTANT",
             "current time for Kubernetes objects (default: the clock for stdin, the latest instant in the objects for "
             "files)"},
            {"max-line-bytes", "N", "reject longer lines (default 1073741824)"},
            {"summary", "", "print a summary on stderr after each plan (default: on a terminal)"},
            {"log-format", "NAME", "format of the log: text or json (default text)", kNoLetter, "text json"},
            {"quiet", "", "print only errors on stderr"},
            {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}})),
       0, std::numeric_limits<std::size_t>::max()});
  return syntax;
}

namespace {

// The decisions of all plan lines of the file of --start. None: it cannot be read, and the console has reported it.
std::optional<portfolio::StartPlan> read_start(const Settings& settings, Console& console) {
  portfolio::StartPlan start;
  const auto path = settings.text("start");
  if (!path) return start;
  LineSource source({*path}, {});
  while (const auto line = source.next()) {
    const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line->text, nullptr);
    if (!plan) {
      console.say(Severity::kError, fmt::format("--start: line {}: {}: {}", line->number, escaped(plan.error().path),
                                                escaped(plan.error().message)));
      return std::nullopt;
    }
    for (const muster_v1::NamedPlan::Placement& placement : plan->named.placements) {
      start.placements.push_back({placement.pod, placement.node, {}});
      for (const muster_v1::NamedPlan::Device& device : placement.devices)
        start.placements.back().devices.push_back(static_cast<std::int32_t>(device.index));
    }
    for (const muster_v1::NamedPlan::Eviction& eviction : plan->named.evictions)
      start.evictions.push_back({eviction.pod, eviction.for_gang, eviction.reason});
  }
  if (source.failure().empty()) return start;
  console.say(Severity::kError, source.failure());
  return std::nullopt;
}

OutputForm output_form(const Settings& settings) {
  const bool is_for_people = !settings.text("output") && is_terminal(STDOUT_FILENO);
  if (!settings.text("output-format")) return is_for_people ? OutputForm::kTable : OutputForm::kJson;
  return settings.choice("output-format") == "table" ? OutputForm::kTable : OutputForm::kJson;
}

PipelineOptions pipeline_options(const Settings& settings) {
  PipelineOptions options{reader_options(settings), line_options(settings), false, output_form(settings)};
  if (!settings.text("output")) options.width = terminal_width(STDOUT_FILENO);
  options.reader.threads = options.line.solve.threads;
  options.summaries = !settings.is_on("quiet") && (settings.is_on("summary") || is_terminal(STDERR_FILENO));
  return options;
}

ConsoleOptions console_options(const Settings& settings) {
  ConsoleOptions options;
  options.format = settings.choice("log-format") == "json" ? LogFormat::kJson : LogFormat::kText;
  options.quiet = settings.is_on("quiet");
  options.progress = !options.quiet && options.format == LogFormat::kText && is_terminal(STDERR_FILENO);
  return options;
}

// A file that the run writes. None: it cannot be created, and the console has reported it. Throws UsageError.
std::optional<int> create(const std::string& flag, const std::string& path, const std::vector<std::string>& inputs,
                          Console& console) {
  if (reads_from(inputs, path)) throw UsageError(fmt::format("{}: {} is also read from", flag, path));
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file >= 0) return file;
  console.say(Severity::kError, fmt::format("{}: {}: {}", flag, escaped(path), std::strerror(errno)));
  return std::nullopt;
}

// The file of --output. None: it cannot be created or read, and the console has reported it. If an interrupted run is
// resumed, the source skips what is answered. Throws UsageError.
std::optional<int> open_output(const Settings& settings, OutputForm form, const std::vector<std::string>& inputs,
                               LineSource& source, Console& console) {
  const std::optional<std::string> path = settings.text("output");
  if (settings.is_on("resume") && (!path || form != OutputForm::kJson))
    throw UsageError("--resume: give --output FILE of JSON lines");
  if (!path) return STDOUT_FILENO;
  if (!settings.is_on("resume")) return create("--output", *path, inputs, console);
  if (reads_from(inputs, *path)) throw UsageError(fmt::format("--output: {} is also read from", *path));
  const ResumedFile file = resume_file(*path);
  source.skip(file.lines);
  if (file.descriptor >= 0) return file.descriptor;
  console.say(Severity::kError, fmt::format("--output: {}: {}", escaped(*path), std::strerror(file.error)));
  return std::nullopt;
}

// `may_be_empty`: that there is no line is no error.
int exit_code_of(const PipelineOutcome& outcome, const LineSource& source, bool may_be_empty, Console& console) {
  if (outcome.write_error != 0) {
    if (outcome.write_error != EPIPE) {
      console.say(Severity::kError, fmt::format("output: {}", std::strerror(outcome.write_error)));
    }
    return kExitCannotWrite;
  }
  if (outcome.defects > 0) return kExitInternal;
  if (!source.failure().empty()) {
    console.say(Severity::kError, source.failure());
    return kExitNoInput;
  }
  if (received_signal() != 0) return kExitSignalled + received_signal();
  if (outcome.is_yaml) {
    console.say(Severity::kError,
                "the input is YAML, but solve reads JSON; use 'kubectl get ... -o json', or "
                "'muster import kubernetes FILE | muster solve' ('-' for stdin)");
    return kExitNoValidLine;
  }
  if (outcome.answered == 0 && may_be_empty) return kExitAnswered;
  if (outcome.answered == 0) {
    console.say(Severity::kError, "the input contains no line");
    return kExitNoInput;
  }
  if (outcome.errors == outcome.answered) return kExitNoValidLine;
  return outcome.errors > 0 ? kExitSomeErrors : kExitAnswered;
}

// A file that is gone when the program ends, to be read under the path. None: errno says why it could not be made.
std::optional<std::string> file_in_memory(std::string_view content) {
  const int file = memfd_create("muster", MFD_CLOEXEC);
  if (file < 0 || write_all(file, content) != 0) return std::nullopt;
  return fmt::format("/proc/self/fd/{}", file);
}

// The files of the command line; the one line of the cluster that --from names, else. None: that has been reported, and
// `exit_code` is set. Throws UsageError.
std::optional<std::vector<std::string>> input_files(const Settings& settings, Console& console, int& exit_code) {
  std::vector<std::string> files = settings.arguments();
  if (!files.empty() && settings.text("from")) throw UsageError("--from cannot be combined with FILE");
  if (!files.empty()) return files;
  if (!names_cluster(settings)) return std::vector<std::string>{"-"};
  const std::variant<std::string, int> line = read_cluster_line(settings);
  if (const int* code = std::get_if<int>(&line)) {
    exit_code = *code;
    return std::nullopt;
  }
  if (auto file = file_in_memory(std::get<std::string>(line))) return std::vector<std::string>{*std::move(file)};
  console.say(Severity::kError, fmt::format("--from: {}", std::strerror(errno)));
  exit_code = kExitInternal;
  return std::nullopt;
}

}  // namespace

int run_solve(int argc, const char* const* argv) {
  const Settings settings(solve_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(solve_syntax()), kExitAnswered);
  PipelineOptions options = pipeline_options(settings);
  Console console(console_options(settings));
  install_interrupt();
  auto start = read_start(settings, console);
  if (!start) return kExitNoInput;
  options.line.start = *std::move(start);
  int exit_code = kExitAnswered;
  const auto files = input_files(settings, console, exit_code);
  if (!files) return exit_code;
  LineSource source(*files, {options.reader.max_line_bytes, wake_descriptor(), shard_of(settings)});
  if (!source.failure().empty()) {
    console.say(Severity::kError, source.failure());
    return kExitNoInput;
  }
  settings.check_outputs({"output", "trace", "write-model"});
  const std::optional<int> output = open_output(settings, options.form, *files, source, console);
  std::optional<int> trace;
  if (const auto path = settings.text("trace")) {
    trace = create("--trace", *path, *files, console);
    if (!trace) return kExitCannotCreate;
  }
  if (!output) return kExitCannotCreate;
  int trace_error = 0;  // the first one
  if (trace) {
    options.line.trace = [&](std::string_view line) {
      if (trace_error == 0) trace_error = write_all(*trace, line);
    };
  }
  LineSolver solver(kOwnProgram);
  PipelineOutcome outcome = run_pipeline(source, *output, solver, options, console);
  if (*output != STDOUT_FILENO && close(*output) != 0 && outcome.write_error == 0) outcome.write_error = errno;
  if (trace && close(*trace) != 0 && trace_error == 0) trace_error = errno;
  if (outcome.write_error == 0) outcome.write_error = trace_error;
  const bool is_part = settings.text("shard") || settings.text("shards") || settings.is_on("resume");
  return exit_code_of(outcome, source, is_part, console);
}

}  // namespace muster::cli
