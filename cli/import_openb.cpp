#include "cli/import_openb.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/exit_code.h"
#include "cli/terminal/instance_option.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "datasets/traces/events_openb.h"
#include "datasets/traces/openb.h"

namespace muster::cli {

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

}  // namespace muster::cli
