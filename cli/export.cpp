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
#include "cli/line_source.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/export_plan.h"
#include "io/plan_line.h"
#include "io/snapshot_reader.h"
#include "model/fair_share.h"
#include "model/referee.h"

namespace muster {
namespace {

const CommandSyntax& export_syntax() {
  static const CommandSyntax syntax{
      "muster export --format NAME [PLANS...] [OPTION...]",
      "Turns plan lines into what carries them out, one JSON object a line. Without PLANS, or where it is -, stdin.\n"
      "An error record among the plans is given on as it is.",
      {{"format", "NAME", "bindings, patches, volcano, kai or deltas; see docs/export.md"},
       {"snapshot", "FILE",
        "what the plans answer, line by line: they are checked, and uids, host names, devices known"},
       {"phase", "NAME", "now, evictions, after-evictions or all (default now; all with deltas)"},
       {"gate", "NAMES", "scheduling gates that patches take away, commas between them (default: all)"},
       {"lenient", "", "pass over keys of the snapshots that the format does not know"},
       {"strict", "", "an object that does not add up is an error of its whole line, not a warning"},
       {"time", "INSTANT", "as told to solve, for snapshots of Kubernetes objects"},
       {"quiet", "", "nothing on stderr but errors"},
       {"config", "FILE", "flags as NAME = VALUE lines; MUSTER_NAME variables and flags come before"}},
      0,
      std::numeric_limits<std::size_t>::max()};
  return syntax;
}

std::vector<std::string> names_between_commas(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    if (names.back().empty()) throw UsageError(fmt::format("--gate: there is an empty name in '{}'", escaped(text)));
    at = end + 1;
  }
  return names;
}

ExportOptions export_options(const Settings& settings) {
  if (!settings.text("format")) {
    throw UsageError("--format is missing: bindings, patches, volcano, kai or deltas");
  }
  ExportOptions options;
  const std::string format = settings.choice("format", {"bindings", "patches", "volcano", "kai", "deltas"});
  options.format = format == "bindings"  ? ExportFormat::kBindings
                   : format == "patches" ? ExportFormat::kPatches
                   : format == "volcano" ? ExportFormat::kVolcano
                   : format == "kai"     ? ExportFormat::kKai
                                         : ExportFormat::kDeltas;
  const std::string phase = settings.choice("phase", {"now", "evictions", "after-evictions", "all"});
  options.phase = phase == "evictions"         ? ExportPhase::kEvictions
                  : phase == "after-evictions" ? ExportPhase::kAfterEvictions
                  : phase == "all"             ? ExportPhase::kAll
                                               : ExportPhase::kNow;
  if (options.format == ExportFormat::kDeltas && !settings.text("phase")) options.phase = ExportPhase::kAll;
  if (const auto gates = settings.text("gate")) options.gates = names_between_commas(*gates);
  if (!options.gates.empty() && options.format != ExportFormat::kPatches) {
    throw UsageError("--gate goes with --format patches only");
  }
  const bool needs_snapshot = options.format == ExportFormat::kKai || options.format == ExportFormat::kVolcano;
  if (needs_snapshot && !settings.text("snapshot")) {
    throw UsageError(fmt::format("--format {} needs --snapshot, what the plans answer", format));
  }
  return options;
}

// The place in the plan line of the pod that breaks a rule; of all placements, where it is a node, gang or queue.
std::string path_of(const ReadPlan& plan, std::string_view subject) {
  for (std::size_t i = 0; i < plan.named.placements.size(); ++i) {
    if (plan.named.placements[i].pod == subject) return fmt::format("$.placements[{}]", i);
  }
  for (std::size_t i = 0; i < plan.named.evictions.size(); ++i) {
    if (plan.named.evictions[i].pod == subject) return fmt::format("$.evictions[{}]", i);
  }
  return "$.placements";
}

// What the referee has against the plan as an answer to this snapshot; none: nothing.
std::optional<InputError> refusal(const Snapshot& snapshot, const Problem& problem, std::string_view plan_text,
                                  const ReadPlan& named) {
  if (named.id != snapshot.id) {
    return InputError{"OtherSnapshot", "$.id",
                      fmt::format("the plan answers '{}', the snapshot is '{}'", named.id, snapshot.id)};
  }
  const Result<ReadPlan> plan = read_plan(plan_text, &problem);
  if (!plan) return plan.error();
  const auto violations = check_plan(snapshot, problem, compute_fair_shares(problem), plan->plan);
  if (violations.empty()) return std::nullopt;
  const Violation& first = violations.front();
  return InputError{"InvalidPlan", path_of(named, first.subject),
                    fmt::format("{}: {}: {}", rule_name(first.rule), first.subject, first.message)};
}

class Export {
 public:
  Export(const Settings& settings, const ReaderOptions& reader)
      : options_(export_options(settings)), is_quiet_(settings.is_on("quiet")), reader_(reader) {}

  // Without a snapshot: what the plan says by itself. False: the output is at its end.
  bool take(const LineSource::Line& plan, const std::optional<LineSource::Line>& snapshot);
  void complain(std::string_view message) { write_all(STDERR_FILENO, fmt::format("muster export: {}\n", message)); }
  int exit_code() const;

 private:
  Result<ExportedPlan> answer(std::string_view plan_text, const ReadPlan& plan, std::string_view snapshot_text);
  bool refuse(const LineSource::Line& plan, std::string_view id, const InputError& error);

  ExportOptions options_;
  bool is_quiet_;
  SnapshotReader reader_;
  std::int64_t plans_ = 0, errors_ = 0;
  int output_code_ = kExitAnswered;
};

Result<ExportedPlan> Export::answer(std::string_view plan_text, const ReadPlan& plan, std::string_view snapshot_text) {
  Result<ObjectIdentities> identities = read_identities(snapshot_text);  // first, as it needs most memory
  Result<Snapshot> snapshot = reader_.read(snapshot_text);
  if (!snapshot) return snapshot.error();
  if (!identities) return identities.error();
  const Result<Problem> problem = build_problem(*snapshot);
  if (!problem) return problem.error();
  if (auto error = refusal(*snapshot, *problem, plan_text, plan)) return *std::move(error);
  return export_plan(plan, ExportCluster(*std::move(identities), *problem), options_);
}

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
  const Result<ReadPlan> read = read_plan(plan.text, nullptr);
  if (!read) return refuse(plan, SnapshotReader::id_of(plan.text), read.error());
  if (read->is_error) {
    ++errors_;
    output_code_ = print(std::string(plan.text) + '\n', kExitAnswered);
    return output_code_ == kExitAnswered;
  }
  const Result<ExportedPlan> exported =
      snapshot ? answer(plan.text, *read, snapshot->text) : export_plan(*read, ExportCluster(), options_);
  if (!exported) return refuse(plan, read->id, exported.error());
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
  ReaderOptions reader;
  reader.lenient = settings.is_on("lenient");
  reader.strict = reader.kubernetes.strict = settings.is_on("strict");
  reader.kubernetes.time = settings.instant("time");
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
