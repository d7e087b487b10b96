// `muster export`: plans become objects for the API server, patches or deltas.
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/export_line.h"
#include "cli/line_options.h"
#include "cli/line_source.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/export_plan.h"
#include "io/plan_line.h"
#include "io/snapshot_reader.h"

namespace muster {
namespace {

const CommandSyntax& export_syntax() {
  static const CommandSyntax syntax{
      "muster export --format NAME [PLANS...] [OPTION...]",
      "Turns plan lines into what carries them out, one JSON object a line. Without PLANS, or where it is -, stdin.\n"
      "An error record among the plans is given on as it is.",
      with_policy_options({{"format", "NAME", "bindings, patches, volcano, kai or deltas; see docs/export.md"},
       {"snapshot", "FILE",
        "what the plans answer, line by line: they are checked, and uids, host names, devices known"},
       {"phase", "NAME", "now, evictions, after-evictions or all (default now; all with deltas)"},
       {"gate", "NAMES", "scheduling gates that patches take away, commas between them (default: all)"},
       {"allow-shared", "", "write Bindings of pods that share devices, too: something else reserves the devices"},
       {"lenient", "", "pass over keys of the snapshots that the format does not know"},
       {"strict", "", "an object that does not add up is an error of its whole line, not a warning"},
       {"time", "INSTANT", "now, for snapshots of Kubernetes objects (default: the time of the plan)"},
       {"quiet", "", "nothing on stderr but errors"},
       {"config", "FILE", "flags as NAME = VALUE lines; MUSTER_NAME variables and flags come before"}}),
      0,
      std::numeric_limits<std::size_t>::max()};
  return syntax;
}

ExportOptions options_of(const Settings& settings) {
  const ExportWords words{settings.text("format"), settings.text("phase"), settings.text("gate"),
                          settings.text("snapshot").has_value(), settings.is_on("allow-shared")};
  const Result<ExportOptions> options = export_options(words);
  if (options) return *options;
  const InputError& error = options.error();
  throw UsageError(fmt::format("--{}: {}", error.path, error.message));
}

class Export {
 public:
  Export(const Settings& settings, const ReaderOptions& reader)
      : options_(options_of(settings)), is_quiet_(settings.is_on("quiet")), reader_(reader) {}

  // Without a snapshot: what the plan says by itself. False: the output is at its end.
  bool take(const LineSource::Line& plan, const std::optional<LineSource::Line>& snapshot);
  void complain(std::string_view message) { write_all(STDERR_FILENO, fmt::format("muster export: {}\n", message)); }
  int exit_code() const;

 private:
  bool refuse(const LineSource::Line& plan, std::string_view id, const InputError& error);

  ExportOptions options_;
  bool is_quiet_;
  SnapshotReader reader_;
  std::int64_t plans_ = 0, errors_ = 0;
  int output_code_ = kExitAnswered;
};

bool Export::refuse(const LineSource::Line& plan, std::string_view id, const InputError& error) {
  ++errors_;
  complain(fmt::format("line {}: {} at {}: {}", plan.number, escaped(error.code), escaped(error.path),
                       escaped(error.message)));
  std::string record;
  write_error(id, error, plan.number, record);
  output_code_ = print(record + '\n', kExitAnswered);
  return output_code_ == kExitAnswered;
}

bool Export::take(const LineSource::Line& plan, const std::optional<LineSource::Line>& snapshot) {
  ++plans_;
  const auto snapshot_text = snapshot ? std::optional(snapshot->text) : std::nullopt;
  const Result<ExportedPlan> exported = export_line(reader_, plan.text, snapshot_text, options_);
  if (!exported && exported.error().code == "NoPlan") {
    ++errors_;
    output_code_ = print(std::string(plan.text) + '\n', kExitAnswered);
    return output_code_ == kExitAnswered;
  }
  if (!exported) return refuse(plan, SnapshotReader::id_of(plan.text), exported.error());
  if (!is_quiet_) {
    for (const std::string& remark : exported->remarks) complain(fmt::format("line {}: {}", plan.number, remark));
  }
  output_code_ = print(exported->text, kExitAnswered);
  return output_code_ == kExitAnswered;
}

int Export::exit_code() const {
  if (output_code_ != kExitAnswered) return output_code_;
  if (plans_ == 0) return kExitNoInput;
  if (errors_ == plans_) return kExitNoValidLine;
  return errors_ > 0 ? kExitSomeErrors : kExitAnswered;
}

// Exit code of a run over all lines.
int export_all(Export& run, LineSource& plans, LineSource* snapshots) {
  while (const auto plan = plans.next()) {
    const auto snapshot = snapshots == nullptr ? std::nullopt : snapshots->next();
    if (snapshots != nullptr && !snapshot) {
      run.complain(snapshots->failure().empty()
                       ? fmt::format("line {}: the plan answers no line of --snapshot", plan->number)
                       : snapshots->failure());
      return kExitNoInput;
    }
    if (!run.take(*plan, snapshot)) return run.exit_code();
  }
  if (!plans.failure().empty()) {
    run.complain(plans.failure());
    return kExitNoInput;
  }
  if (run.exit_code() == kExitNoInput) run.complain("there is no plan in the input");
  if (const auto unanswered = snapshots == nullptr ? std::nullopt : snapshots->next()) {
    run.complain(fmt::format("line {} of --snapshot has no plan", unanswered->number));
    return run.exit_code() == kExitAnswered ? kExitSomeErrors : run.exit_code();
  }
  return run.exit_code();
}

}  // namespace

int run_export(int argc, const char* const* argv) {
  const Settings settings(export_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(export_syntax()), kExitAnswered);
  const ReaderOptions reader = reader_options(settings);
  Export run(settings, reader);
  std::vector<std::string> files = settings.arguments();
  if (files.empty()) files.emplace_back("-");
  const auto snapshot_file = settings.text("snapshot");
  if (snapshot_file == "-" && std::find(files.begin(), files.end(), "-") != files.end()) {
    throw UsageError("the plans and --snapshot cannot both be stdin");
  }
  LineSource plans(files, {.max_line_bytes = reader.max_line_bytes});
  std::optional<LineSource> snapshots;
  if (snapshot_file) {
    snapshots.emplace(std::vector<std::string>{*snapshot_file}, LineSource::Options{reader.max_line_bytes, -1});
  }
  for (const LineSource* source : {&plans, snapshots ? &*snapshots : nullptr}) {
    if (source == nullptr || source->failure().empty()) continue;
    run.complain(source->failure());
    return kExitNoInput;
  }
  return export_all(run, plans, snapshots ? &*snapshots : nullptr);
}

}  // namespace muster
