#include "cli/import_philly.h"

#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/exit_code.h"
#include "cli/terminal/instance_option.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "datasets/traces/philly.h"

namespace muster::cli {

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

}  // namespace muster::cli
