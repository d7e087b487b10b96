#include "cli/help.h"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/program_name.h"
#include "io/kubernetes/known/dialects.h"

namespace muster::cli {
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
