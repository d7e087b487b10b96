// `muster import` without a source that the table of commands has.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {
namespace {

struct Source {
  std::string_view name, summary;
};

std::vector<Source> sources() {
  constexpr std::string_view kPrefix = "import ";
  std::vector<Source> all;
  for (const Command& command : command_table()) {
    if (command.name.starts_with(kPrefix)) all.push_back({command.name.substr(kPrefix.size()), command.summary});
  }
  return all;
}

std::vector<std::string_view> source_names() {
  std::vector<std::string_view> names;
  for (const Source& source : sources()) names.push_back(source.name);
  return names;
}

}  // namespace

const CommandSyntax& import_syntax() {
  static const std::string synopsis = fmt::format("muster import {} [OPTION...]", fmt::join(source_names(), "|"));
  static const std::string summary = [] {
    std::string text = "Makes snapshots and workloads. 'muster import SOURCE --help' lists the options of a source.\n";
    for (const Source& source : sources()) text += fmt::format("\n  {:<13} {}", source.name, source.summary);
    return text;
  }();
  static const CommandSyntax syntax{synopsis.c_str(), summary.c_str(), {}, 1, 1000};
  return syntax;
}

int run_import(int argc, const char* const* argv) {
  const Settings settings(import_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(import_syntax()), kExitAnswered);
  const std::string& name = settings.arguments().front();
  const std::vector<std::string_view> names = source_names();
  const std::string guess = did_you_mean(name, names);
  throw UsageError(fmt::format("unknown import '{}'{}", escaped(name),
                               guess.empty() ? fmt::format("; one of {}", fmt::join(names, ", ")) : guess));
}

}  // namespace muster::cli
