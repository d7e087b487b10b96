#include "cli/command_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/agent/command.h"
#include "cli/agent/planning/options.h"
#include "cli/answers/answers.h"
#include "cli/bench.h"
#include "cli/cells/split.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/import_sources.h"
#include "cli/serve/options.h"
#include "cli/serve/serve.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "io/kubernetes/known/dialects.h"

namespace muster::cli {

std::span<const Command> command_table() {
  using enum CommandGroup;
  static constexpr auto kCommands = std::to_array<Command>({
      {"solve", kPlan, "read snapshots and write plans, one per line", solve_syntax, run_solve},
      {"verify", kPlan, "check plans against their snapshots", verify_syntax, run_verify},
      {"split", kPlan, "divide a very large cluster into cells that are planned in parallel", split_syntax, run_split},
      {"merge", kPlan, "put the lines of several shards back in order, or the plans of cells together", merge_syntax,
       run_merge},
      {"why", kExplain, "explain why gangs wait, and what would start them", why_syntax, run_why},
      {"what-if", kExplain, "plan a changed cluster; a manifest before it is applied", what_if_syntax, run_what_if},
      {"fits", kExplain, "tell how many more gangs of a shape start", fits_syntax, run_fits},
      {"size", kExplain, "find the cheapest nodes that run a workload", size_syntax, run_size},
      {"drain", kExplain, "tell what draining nodes takes, and in which order to drain them", drain_syntax, run_drain},
      {"diff", kExplain, "show what plans decide differently from other plans", diff_syntax, run_diff},
      {"top", kExplain, "show what a cluster is used for: queues, GPUs, gangs, nodes", top_syntax, run_top},
      {"report", kExplain, "show plans and measurements as one HTML page", report_syntax, run_report},
      {"import", kConvert, "make snapshots from Kubernetes objects, traces and node lists", import_syntax, run_import},
      {"import kubernetes", kConvert, "make a snapshot from Kubernetes objects", import_kubernetes_syntax,
       run_import_kubernetes},
      {"import kai-snapshot", kConvert, "make a snapshot from an archive of KAI's scheduler",
       import_kai_snapshot_syntax, run_import_kai_snapshot},
      {"import openb", kConvert, "make a snapshot from the OpenB trace", import_openb_syntax, run_import_openb},
      {"import philly", kConvert, "make a workload from the Philly trace", import_philly_syntax, run_import_philly},
      {"import inventory", kConvert, "make a snapshot from a list of nodes", import_inventory_syntax,
       run_import_inventory},
      {"generate", kConvert, "generate random snapshots from a seed", generate_syntax, run_generate},
      {"export", kConvert, "convert plans to objects for the Kubernetes API server, patches or deltas", export_syntax,
       run_export},
      {"simulate", kMeasure, "replay a workload under a policy", simulate_syntax, run_simulate},
      {"bench", kMeasure, "run the benchmarks of a build", bench_syntax, run_bench},
      {"serve", kServe, "serve plans over HTTP, on a Unix or TCP socket", serve_syntax, run_serve},
      {"agent", kServe, "watch a cluster, say why pods wait, and carry plans out", agent_syntax, run_agent},
      {"completion", kProgram, "print the completions for a shell", completion_syntax, run_completion},
      {"version", kProgram, "print the version", version_syntax, run_version},
      {"help", kProgram, "list the commands, or print the help of one", help_syntax, run_help},
  });
  return kCommands;
}

std::size_t word_count(const Command& command) { return command.name.find(' ') == std::string_view::npos ? 1 : 2; }

const Command* find_command(std::span<const std::string_view> words) {
  const std::span<const Command> table = command_table();
  for (std::size_t count = std::min<std::size_t>(words.size(), 2); count > 0; --count) {
    const std::string name = fmt::format("{}", fmt::join(words.first(count), " "));
    const auto found = std::ranges::find(table, name, &Command::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

std::string unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : command_table()) names.push_back(command.name);
  const std::string guess = did_you_mean(name, names);
  return fmt::format("unknown command '{}'{}", escaped(name),
                     guess.empty() ? fmt::format("; '{} help' lists all", typed_program_name()) : guess);
}

namespace {

std::string_view title(CommandGroup group) {
  switch (group) {
    case CommandGroup::kPlan:
      return "Plan";
    case CommandGroup::kExplain:
      return "Explain";
    case CommandGroup::kConvert:
      return "Import and export";
    case CommandGroup::kMeasure:
      return "Measure";
    case CommandGroup::kServe:
      return "Serve";
    case CommandGroup::kProgram:
      break;
  }
  return "The program";
}

// For scripts: a command per line, its name, a tab, its summary.
std::string command_list() {
  std::string text;
  for (const Command& command : command_table()) text += fmt::format("{}\t{}\n", command.name, command.summary);
  return text;
}

std::string help_of(const std::vector<std::string>& name) {
  const std::vector<std::string_view> words(name.begin(), name.end());
  const Command* command = find_command(words);
  if (command == nullptr || word_count(*command) < words.size()) {
    throw UsageError(unknown_command(fmt::format("{}", fmt::join(words, " "))));
  }
  return help_text(command->syntax());
}

}  // namespace

std::string help_overview() {
  std::string text = fmt::format(
      "muster plans which pods of a GPU cluster run on which nodes. It places gangs entirely or not at all, and it\n"
      "proves how good its plans are.\n\nUsage: {} COMMAND [OPTION...]\n",
      typed_program_name());
  std::optional<CommandGroup> group;
  for (const Command& command : command_table()) {
    if (group != command.group) text += fmt::format("\n{}:\n", title(command.group));
    group = command.group;
    text += fmt::format("  {:<20} {}\n", command.name, command.summary);
  }
  return text +
         fmt::format(
             "\n'{} help COMMAND' lists the options of a command. Exit codes: 0 all lines answered; 1 some error "
             "records,\nverify has findings, or diff finds differences; 64 usage; 65 no valid line; 66 no "
             "input; 70 internal error; 73, 74\noutput errors.\n",
             typed_program_name());
}

const CommandSyntax& help_syntax() {
  static const CommandSyntax syntax{
      "muster help [COMMAND] [OPTION...]",
      "Lists the commands, or prints the help of one, which is also that of muster COMMAND --help.",
      {{"list", "", "print the name of each command, a tab, and its summary, one command per line"},
       {"keys", "",
        "print what the import of Kubernetes objects does with each annotation, label and field that it knows"}},
      0,
      2};
  return syntax;
}

const CommandSyntax& version_syntax() {
  static const CommandSyntax syntax{"muster version", "Prints the name of the program and its version.", {}};
  return syntax;
}

int run_help(int argc, const char* const* argv) {
  const Settings settings(help_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(help_syntax()), kExitAnswered);
  if (settings.is_on("keys")) return print(kubernetes::known::table_text(), kExitAnswered);
  if (settings.is_on("list")) return print(command_list(), kExitAnswered);
  return print(settings.arguments().empty() ? help_overview() : help_of(settings.arguments()), kExitAnswered);
}

int run_version(int argc, const char* const* argv) {
  const Settings settings(version_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(version_syntax()), kExitAnswered);
  return print("muster " MUSTER_VERSION "\n", kExitAnswered);
}

}  // namespace muster::cli
