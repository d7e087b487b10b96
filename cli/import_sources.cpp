#include "cli/import_sources.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/line/documents.h"
#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "datasets/traces/events_openb.h"
#include "datasets/traces/openb.h"
#include "datasets/traces/philly.h"
#include "io/kubernetes/kai_snapshot.h"
#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

const CommandSyntax& import_kai_snapshot_syntax() {
  static const CommandSyntax syntax{
      "muster import kai-snapshot FILE [OPTION...]",
      "Prints one snapshot line from the archive that KAI's scheduler serves at /get-snapshot: a zip file with\n"
      "snapshot.json. Lists what it ignores on stderr.",
      {{"time", "INSTANT", "current time (default: the latest instant in the objects)"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       {"quiet", "", "print only errors on stderr"}},
      1,
      1};
  return syntax;
}

int run_import_kai_snapshot(int argc, const char* const* argv) {
  const Settings settings(import_kai_snapshot_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_kai_snapshot_syntax()), kExitAnswered);
  kubernetes::KubernetesOptions options = kubernetes_options(settings);
  const std::string& file = settings.arguments()[0];
  Result<kubernetes::KaiSnapshot> snapshot = kubernetes::kai_snapshot_objects(file);
  if (!snapshot) {
    const int code = complain_of_import(snapshot.error(), file);
    return snapshot.error().code == ErrorCode::kNoInput ? kExitNoInput : code;
  }
  options.policy = snapshot->configuration.policy;
  options.grace_period = snapshot->configuration.grace_period;
  options.kai_scheduler = snapshot->configuration.scheduler;
  options.kai_queue_label = snapshot->configuration.queue_label;
  const Remarks remarks = settings.is_on("quiet") ? Remarks::kQuiet : Remarks::kTold;
  if (remarks == Remarks::kTold) {
    for (const std::string& remark : snapshot->configuration.remarks) {
      complain_of_import(escaped(remark), kExitAnswered);
    }
  }
  return print_imported(snapshot->objects, options, remarks);
}

const CommandSyntax& import_kubernetes_syntax() {
  static const CommandSyntax syntax{
      "muster import kubernetes [FILE...] [OPTION...]",
      "Prints one snapshot line made of the Kubernetes objects in all files, or in stdin: kubectl output as JSON,\n"
      "YAML or watch events (`--watch --output-watch-events`), or manifests, one document after another.\n"
      "Lists what it ignores on stderr.",
      {{"expand", "", "add the pods that templates still request, as pending pods"},
       {"time", "INSTANT", "current time (default: the clock for stdin, the latest instant in the objects for files)"},
       {"strict", "", "treat an inconsistent object as an error, not as a warning"},
       duration_annotation_row(),
       planned_gate_row(),
       {"quiet", "", "print only errors on stderr"}},
      0,
      std::numeric_limits<std::size_t>::max()};
  return syntax;
}

int run_import_kubernetes(int argc, const char* const* argv) {
  const Settings settings(import_kubernetes_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_kubernetes_syntax()), kExitAnswered);
  kubernetes::KubernetesOptions options = kubernetes_options(settings);
  options.expand = settings.is_on("expand");
  std::vector<std::string> files = settings.arguments();
  if (files.empty()) files.emplace_back("-");
  Descriptor opened;
  std::string read;
  std::optional<json::JsonText> text;
  if (files.size() == 1) text = open_documents(files.front(), opened);
  for (const std::string& file : files) {
    if (text) break;
    const auto error = read_documents(file, read);
    if (!error) continue;
    if (error->code != ErrorCode::kNoInput) return complain_of_import(*error, file);
    return complain_of_import(fmt::format("{}: {}", escaped(file), error->message), kExitNoInput);
  }
  if (!text && read.find_first_not_of(" \t\r\n") == std::string::npos) {
    return complain_of_import("the input is empty", kExitNoInput);
  }
  const bool is_now = std::ranges::find(files, "-") != files.end();
  options = with_time(options, is_now ? TimeSource::kClock : TimeSource::kObjects);
  return print_imported(text.value_or(read), options, settings.is_on("quiet") ? Remarks::kQuiet : Remarks::kTold);
}

const CommandSyntax& import_openb_syntax() {
  static const CommandSyntax syntax{
      "muster import openb [NODES.csv PODS.csv] [OPTION...]",
      "Prints one snapshot line with the nodes and pods of the Alibaba GPU trace of 2023, or of files with its "
      "columns.\n"
      "Without files, uses the included trace.",
      {{"trace", "NAME", "included trace if no files are given: default, gpushare100 or gpuspec33 [default]", kNoLetter,
        "default gpushare100 gpuspec33"},
       {"data", "DIR", "directory of the traces [the included ones]"},
       {"order", "FILE", "order of arrival: one row number of the pod list per line, from 0 [each row once]"},
       {"arrived", "PERCENT", "only the pods that have arrived when they request PERCENT of all GPUs"},
       {"events", "",
        "print a workload for muster simulate instead of a snapshot: one pod per second, in order of arrival"},
       {"tile", "N", "repeat all nodes and pods N times"},
       {"gangs", "N", "group equal pods into gangs of 1 to N pods"},
       {"falling-sizes", "", "weight gang sizes by 1/size^2, so that most gangs have one pod"},
       {"nodes", "N", "draw N nodes from the list"},
       {"occupy", "F", "draw running pods on random nodes until they use this share of the GPUs"},
       {"preemptible", "", "make running pods preemptible"},
       {"load", "L", "draw pending pods that request L times the free GPUs [with nodes: 1.2, with occupy: 1.5]"},
       {"pending-priority", "N", "priority of pending pods; running pods have 0"},
       {"place-only", "", "allow only the action place"},
       {"seed", "S", "random seed [1]"},
       {"id", "ID", "id of the snapshot [openb]"}},
      0,
      2};
  return syntax;
}

namespace {

// Next to an installed program, else in the sources that it was compiled from.
std::string carried_directory() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path() / ".." / "share" / "muster" / "openb";
  if (!error && std::filesystem::is_directory(installed, error)) return installed.string();
  return traces::openb_source_directory();
}

traces::OpenbFiles files_of(const Settings& settings) {
  const auto& arguments = settings.arguments();
  traces::OpenbFiles files;
  if (arguments.empty()) {
    const std::string directory = settings.text("data").value_or("");
    files = traces::openb_trace_files(directory.empty() ? carried_directory() : directory,
                                      settings.text("trace").value_or("default"));
    if (!settings.text("arrived") && !settings.is_on("events")) files.order.clear();
  } else if (arguments.size() == 2) {
    if (settings.text("trace") || settings.text("data"))
      throw UsageError("--trace and --data cannot be combined with files");
    files = {arguments[0], arguments[1], {}};
  } else {
    throw UsageError("give both a list of nodes and a list of pods");
  }
  files.order = settings.text("order").value_or(files.order);
  return files;
}

traces::OpenbOptions openb_options_of(const Settings& settings) {
  traces::OpenbOptions options;
  options.id = settings.text("id").value_or(options.id);
  set_seed(settings, options.seed);
  options.arrived_percent = amount_option(settings, "arrived");
  set_count(settings, "tile", options.tile);
  set_count(settings, "gangs", options.gang_max);
  options.falling_sizes = settings.is_on("falling-sizes");
  options.place_only = settings.is_on("place-only");
  set_count(settings, "nodes", options.node_count);
  set_amount(settings, "occupy", options.occupied);
  options.load = amount_option(settings, "load");
  options.preemptible = settings.is_on("preemptible");
  set_count(settings, "pending-priority", options.pending_priority);
  if (settings.is_on("events") && (options.resamples() || options.tile != 1 || options.gang_max > 0)) {
    throw UsageError("--events can be combined only with --trace, --order, --arrived and --place-only");
  }
  if (settings.text("order") && options.resamples()) {
    throw UsageError("--order cannot be combined with --nodes, --occupy or --load, which draw pods");
  }
  return options;
}

}  // namespace

int run_import_openb(int argc, const char* const* argv) {
  const Settings settings(import_openb_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_openb_syntax()), kExitAnswered);
  const traces::OpenbOptions options = openb_options_of(settings);
  const auto input = traces::load_openb(files_of(settings));
  if (!input) {
    const InputError& error = input.error();
    write_all(STDERR_FILENO, fmt::format("muster import: {}: {}\n", error.path, error.message));
    return error.code == ErrorCode::kNoInput ? kExitNoInput : kExitNoValidLine;
  }
  refuse_fault(traces::openb_fault(*input, options));
  if (settings.is_on("events")) return print(traces::openb_workload(*input, options), kExitAnswered);
  return print(traces::openb_snapshot(*input, options) + '\n', kExitAnswered);
}

const CommandSyntax& import_philly_syntax() {
  static const CommandSyntax syntax{
      "muster import philly [JOBS.csv CLUSTERS.csv] [OPTION...]",
      "Prints a workload for muster simulate: the jobs of Microsoft's Philly trace on its virtual clusters, or of "
      "files with its columns.\nWithout files, uses the included trace.",
      {{"data", "DIR", "directory of the traces [the included ones]"},
       {"days", "N", "draw the jobs that arrive within N days; requires --load"},
       {"load", "L", "make their work L times the capacity of all GPUs in that time"},
       {"inventory", "FILE", "use these nodes instead of the virtual clusters' nodes; spot2026: the included list"},
       {"large-weight", "W", "weight of gangs with 8 or more GPUs [1]"},
       {"large-priority", "N", "raise the priority of gangs with 8 or more GPUs by N [0]"},
       {"estimates", "GRADE", "what jobs tell of their duration: none, noisy (0.3 to 3 times), exact [none]", kNoLetter,
        "none noisy exact"},
       {"place-only", "", "allow only the action place"},
       {"one-queue", "", "put all jobs into one queue, whose quota is all GPUs"},
       {"seed", "S", "random seed [1]"},
       {"id", "ID", "id of the snapshot [philly]"}},
      0,
      2};
  return syntax;
}

const CommandSyntax& import_inventory_syntax() {
  static const CommandSyntax syntax{
      "muster import inventory [NODES.csv] [OPTION...]",
      "Prints a snapshot line with only nodes, from the columns node_name, cpu_num, gpu_capacity_num, gpu_model.\n"
      "Without a file, uses the included 4,278 nodes of spot2026.",
      {{"data", "DIR", "directory of the traces [the included ones]"}, {"id", "ID", "id of the snapshot [inventory]"}},
      0,
      1};
  return syntax;
}

namespace {

// Next to an installed program, else in the sources that it was compiled from.
std::string data_directory(const Settings& settings) {
  if (const auto given = settings.text("data")) return *given;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path() / ".." / "share" / "muster";
  if (!error && std::filesystem::is_directory(installed / "philly", error)) return installed.string();
  return traces::datasets_source_directory();
}

std::string inventory_file(const Settings& settings) { return data_directory(settings) + "/spot2026/nodes.csv"; }

int fail(const InputError& error) {
  write_all(STDERR_FILENO, fmt::format("muster import: {}: {}\n", error.path, error.message));
  return error.code == ErrorCode::kNoInput ? kExitNoInput : kExitNoValidLine;
}

}  // namespace

int run_import_philly(int argc, const char* const* argv) {
  const Settings settings(import_philly_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_philly_syntax()), kExitAnswered);
  if (settings.arguments().size() == 1) throw UsageError("give both a list of jobs and a list of virtual clusters");
  traces::PhillyOptions options;
  options.id = settings.text("id").value_or(options.id);
  options.place_only = settings.is_on("place-only");
  options.one_queue = settings.is_on("one-queue");
  options.load = amount_option(settings, "load");
  if (const auto days = settings.integer("days", 1, 366)) options.days = static_cast<std::int32_t>(*days);
  set_amount(settings, "large-weight", options.large_weight);
  set_count(settings, "large-priority", options.large_priority);
  const std::string estimates = settings.choice("estimates");
  options.estimates = estimates == "noisy"   ? traces::PhillyEstimates::kNoisy
                      : estimates == "exact" ? traces::PhillyEstimates::kExact
                                             : traces::PhillyEstimates::kNone;
  set_seed(settings, options.seed);
  refuse_fault(traces::philly_fault(options));
  const std::string folder = data_directory(settings) + "/philly";
  const bool has_files = !settings.arguments().empty();
  const auto input = traces::load_philly(has_files ? settings.arguments()[0] : folder + "/jobs_mix1.csv",
                                         has_files ? settings.arguments()[1] : folder + "/vc_nodes.csv");
  if (!input) return fail(input.error());
  if (const auto inventory = settings.text("inventory")) {
    auto nodes = traces::load_inventory(*inventory == "spot2026" ? inventory_file(settings) : *inventory);
    if (!nodes) return fail(nodes.error());
    options.nodes = *std::move(nodes);
  }
  return print(traces::philly_workload(*input, options), kExitAnswered);
}

int run_import_inventory(int argc, const char* const* argv) {
  const Settings settings(import_inventory_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_inventory_syntax()), kExitAnswered);
  const auto nodes =
      traces::load_inventory(settings.arguments().empty() ? inventory_file(settings) : settings.arguments()[0]);
  if (!nodes) return fail(nodes.error());
  return print(traces::inventory_snapshot(*nodes, settings.text("id").value_or("inventory")) + '\n', kExitAnswered);
}

int complain_of_import(std::string_view message, int exit_code) {
  write_all(STDERR_FILENO, fmt::format("muster import: {}\n", message));
  return exit_code;
}

int complain_of_import(const InputError& error, std::string_view file) {
  const std::string where = file.empty() ? std::string() : escaped(file) + ": ";
  return complain_of_import(
      fmt::format("{}{} at {}: {}", where, error_code_text(error.code), escaped(error.path), escaped(error.message)),
      kExitNoValidLine);
}

int print_imported(const json::JsonText& text, const kubernetes::KubernetesOptions& options, Remarks remarks) {
  auto imported = kubernetes::import_kubernetes_text(
      text, options, {std::numeric_limits<std::size_t>::max(), muster_v1::ReaderOptions().max_depth});
  if (!imported) return complain_of_import(imported.error(), "");
  if (remarks == Remarks::kTold) {
    for (const Warning& warning : imported->anomalies.warnings) complain_of_import(told_text(warning), kExitAnswered);
  }
  return print(kubernetes::line_of(*std::move(imported)) += '\n', kExitAnswered);
}

}  // namespace muster::cli
