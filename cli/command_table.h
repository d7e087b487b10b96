// The table of commands. Everything that lists commands reads it: main(), `muster help`, the manual pages and the
// completions. A new command is one row of command_table.cpp, and a section in docs/cli.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace muster::cli {

struct CommandSyntax;  // cli/terminal/options.h

enum class CommandGroup : std::uint8_t { kPlan, kExplain, kConvert, kMeasure, kServe, kProgram };

struct Command {
  std::string_view name;  // as typed after `muster`: one word or two, "import kubernetes"
  CommandGroup group;
  std::string_view summary;  // one line, imperative, without a full stop
  const CommandSyntax& (*syntax)();
  int (*run)(int argc, const char* const* argv);  // argv[0] is the last word of the name; returns the exit code
};

// In the order of the help, the commands of a group together.
std::span<const Command> command_table();

// 1 or 2.
std::size_t word_count(const Command& command);

// The command whose name the words begin with, the one with more words first; null: there is none. The words may be
// followed by others.
const Command* find_command(std::span<const std::string_view> words);

// "unknown command 'slove'; did you mean 'solve'?"
std::string unknown_command(std::string_view name);

// What `muster help` prints.
//
// The commands by group, each with its summary.
std::string help_overview();

}  // namespace muster::cli
