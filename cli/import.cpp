#include "cli/import.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/import_kai_snapshot.h"
#include "cli/import_kubernetes.h"
#include "cli/import_philly.h"
#include "cli/instance_option.h"
#include "cli/near_miss.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "datasets/events_openb.h"
#include "datasets/openb.h"

namespace muster {
namespace {

CommandSyntax syntax() {
  return {
      "muster import openb [NODES.csv PODS.csv] [OPTION...]",
      "Prints one snapshot line of the nodes and pods of the Alibaba GPU trace of 2023, or of files of its columns.\n"
      "Without files: of the trace that comes with the program.\n"
      "Of other things: muster import kubernetes --help, kai-snapshot --help, philly --help, inventory --help.",
      {{"trace", "NAME", "default, gpushare100 or gpuspec33, where no files are given [default]"},
       {"data", "DIR", "where the traces lie, in place of those that come with the program"},
       {"order", "FILE", "the order of arrival: one row of the pod list a line, from 0 [each row once]"},
       {"arrived", "PERCENT", "only what has arrived when so much of the GPUs has been asked for"},
       {"events", "",
        "a workload for muster simulate in place of one snapshot: a pod a second, in the order of arrival"},
       {"tile", "N", "all nodes and pods N times"},
       {"gangs", "N", "equal pods in gangs of 1 to N"},
       {"falling-sizes", "", "gang sizes with weights 1/size^2, so that most pods stand alone"},
       {"nodes", "N", "N nodes drawn from the list"},
       {"occupy", "F", "this share of the GPUs under running pods, drawn, on random nodes"},
       {"preemptible", "", "the running pods may be evicted"},
       {"load", "L", "pending pods drawn for L times the free GPUs [with nodes: 1.2, with occupy: 1.5]"},
       {"pending-priority", "N", "of the pending pods; running ones have 0"},
       {"place-only", "", "the policy's only action is to place"},
       {"seed", "S", "of all that is drawn [1]"},
       {"id", "ID", "of the snapshot [openb]"}},
      1,
      3};
}

// Beside an installed program, else in the sources that it was compiled from.
std::string carried_directory() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path() / ".." / "share" / "muster" / "openb";
  if (!error && std::filesystem::is_directory(installed, error)) return installed.string();
  return openb_source_directory();
}

OpenbFiles files_of(const Settings& settings) {
  const auto& arguments = settings.arguments();
  OpenbFiles files;
  if (arguments.size() == 1) {
    const std::string directory = settings.text("data").value_or("");
    files = openb_trace_files(directory.empty() ? carried_directory() : directory,
                              settings.text("trace").value_or("default"));
    if (!settings.text("arrived") && !settings.is_on("events")) files.order.clear();
  } else if (arguments.size() == 3) {
    if (settings.text("trace") || settings.text("data")) throw UsageError("--trace and --data do not go with files");
    files = {arguments[1], arguments[2], {}};
  } else {
    throw UsageError("a list of nodes goes with a list of pods");
  }
  files.order = settings.text("order").value_or(files.order);
  return files;
}

OpenbOptions options_of(const Settings& settings) {
  OpenbOptions options;
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
    throw UsageError("--events goes with --trace, --order, --arrived and --place-only only");
  }
  if (settings.text("order") && options.resamples()) {
    throw UsageError("--order does not go with --nodes, --occupy and --load, which draw pods");
  }
  return options;
}

[[noreturn]] void refuse_kind(std::string_view kind) {
  static constexpr std::array<std::string_view, 5> kKinds = {"openb", "philly", "inventory", "kubernetes",
                                                             "kai-snapshot"};
  const std::string guess = did_you_mean(kind, kKinds);
  throw UsageError(fmt::format("unknown import '{}'{}", escaped(kind),
                               guess.empty() ? "; one of " + fmt::format("{}", fmt::join(kKinds, ", ")) : guess));
}

}  // namespace

int run_import(int argc, const char* const* argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  if (kind == "kubernetes") return run_import_kubernetes(argc - 1, argv + 1);
  if (kind == "philly") return run_import_philly(argc - 1, argv + 1);
  if (kind == "inventory") return run_import_inventory(argc - 1, argv + 1);
  if (kind == "kai-snapshot") return run_import_kai_snapshot(argc - 1, argv + 1);
  if (!kind.empty() && kind != "openb" && !kind.starts_with('-')) refuse_kind(kind);
  const Settings settings(syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(syntax()), kExitAnswered);
  if (settings.arguments()[0] != "openb") refuse_kind(settings.arguments()[0]);
  const OpenbOptions options = options_of(settings);
  const auto input = load_openb(files_of(settings));
  if (!input) {
    const InputError& error = input.error();
    write_all(STDERR_FILENO, fmt::format("muster import: {}: {}\n", error.path, error.message));
    return error.code == "NoInput" ? kExitNoInput : kExitNoValidLine;
  }
  refuse_fault(openb_fault(*input, options));
  if (settings.is_on("events")) return print(openb_workload(*input, options), kExitAnswered);
  return print(openb_snapshot(*input, options) + '\n', kExitAnswered);
}

}  // namespace muster
