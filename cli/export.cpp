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
#include "cli/line/export_line.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/export/plan.h"
#include "io/muster_v1/plan_line.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

const CommandSyntax& export_syntax() {
  static const CommandSyntax syntax{
      "muster export --format NAME [PLANS...] [OPTION...]",
      "Converts plan lines to the objects that carry them out, one JSON object per line. Without PLANS, or for -, "
      "reads stdin.\n"
      "Error records among the plans are copied unchanged.",
      with_policy_options(
          {{"format", "NAME", "output format: bindings, patches, volcano, kai or deltas; see docs/export.md", kNoLetter,
            "bindings patches volcano kai deltas"},
           {"snapshot", "FILE", "the snapshots of the plans, line by line: adds checks, uids, host names and devices"},
           {"phase", "NAME", "what to write: now, evictions, after-evictions or all (default now; all for deltas)",
            kNoLetter, "now evictions after-evictions all"},
           {"gate", "NAMES", "scheduling gates that patches remove, separated by commas (default: all)"},
           {"allow-shared", "",
            "write Bindings for pods that share devices, too, if something else reserves the devices"},
           {"lenient", "", "ignore keys of the snapshots that the format does not define"},
           {"strict", "", "treat an inconsistent object as an error of its whole line, not as a warning"},
           duration_annotation_row(),
           {"time", "INSTANT", "current time for snapshots of Kubernetes objects (default: the time of the plan)"},
           {"quiet", "", "print only errors on stderr"},
           {"config", "FILE", "read options as NAME = VALUE lines; MUSTER_NAME variables and flags override them"}}),
      0, std::numeric_limits<std::size_t>::max()};
  return syntax;
}

namespace {

exporting::ExportOptions options_of(const Settings& settings) {
  const ExportWords words{settings.text("format"), settings.text("phase"), settings.text("gate"),
                          settings.text("snapshot").has_value(), settings.is_on("allow-shared")};
  const Result<exporting::ExportOptions> options = export_options(words);
  if (options) return *options;
  const InputError& error = options.error();
  throw UsageError(fmt::format("--{}: {}", error.path, error.message));
}

class Export {
 public:
  Export(const Settings& settings, const muster_v1::ReaderOptions& reader)
      : options_(options_of(settings)), is_quiet_(settings.is_on("quiet")), reader_(reader) {}

  // Without a snapshot: exports what the plan itself contains. False: the output is closed.
  bool take(const LineSource::Line& plan, const std::optional<LineSource::Line>& snapshot);
  void complain(std::string_view message) { write_all(STDERR_FILENO, fmt::format("muster export: {}\n", message)); }
  int exit_code() const;

 private:
  bool refuse(const LineSource::Line& plan, std::string_view id, const InputError& error);

  exporting::ExportOptions options_;
  bool is_quiet_;
  muster_v1::SnapshotReader reader_;
  std::int64_t plans_ = 0, errors_ = 0;
  int output_code_ = kExitAnswered;
};

bool Export::refuse(const LineSource::Line& plan, std::string_view id, const InputError& error) {
  ++errors_;
  complain(fmt::format("line {}: {} at {}: {}", plan.number, error_code_text(error.code), escaped(error.path),
                       escaped(error.message)));
  std::string record;
  muster_v1::write_error(id, error, plan.number, record);
  output_code_ = print(record + '\n', kExitAnswered);
  return output_code_ == kExitAnswered;
}

bool Export::take(const LineSource::Line& plan, const std::optional<LineSource::Line>& snapshot) {
  ++plans_;
  const auto snapshot_text = snapshot ? std::optional(snapshot->text) : std::nullopt;
  const Result<exporting::ExportedPlan> exported = export_line(reader_, plan.text, snapshot_text, options_);
  if (!exported && exported.error().code == ErrorCode::kNoPlan) {
    ++errors_;
    output_code_ = print(std::string(plan.text) + '\n', kExitAnswered);
    return output_code_ == kExitAnswered;
  }
  if (!exported) return refuse(plan, muster_v1::SnapshotReader::id_of(plan.text), exported.error());
  if (!is_quiet_) {
    for (const std::string& remark : exported->remarks) complain(fmt::format("line {}: {}", plan.number, remark));
  }
  output_code_ = print(exported->text(), kExitAnswered);
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
                       ? fmt::format("line {}: --snapshot has no line for this plan", plan->number)
                       : snapshots->failure());
      return kExitNoInput;
    }
    if (!run.take(*plan, snapshot)) return run.exit_code();
  }
  if (!plans.failure().empty()) {
    run.complain(plans.failure());
    return kExitNoInput;
  }
  if (run.exit_code() == kExitNoInput) run.complain("the input contains no plan");
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
  const muster_v1::ReaderOptions reader = reader_options(settings);
  Export run(settings, reader);
  std::vector<std::string> files = settings.arguments();
  if (files.empty()) files.emplace_back("-");
  const auto snapshot_file = settings.text("snapshot");
  if (snapshot_file == "-" && std::find(files.begin(), files.end(), "-") != files.end()) {
    throw UsageError("the plans and --snapshot cannot both be read from stdin");
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

}  // namespace muster::cli
