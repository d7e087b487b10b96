#include "cli/completion.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"

namespace muster::cli {

namespace {

using Words = std::span<const std::string_view>;

// The numbers are Cobra's.
enum class Others : int { kFiles = 0, kNone = 4, kDirectories = 16 };

// What may stand in one place.
struct Candidates {
  struct Candidate {
    std::string text;
    std::string_view help;
  };
  std::vector<Candidate> words;
  Others others = Others::kNone;
};

// The names of commands after the words of one that is begun.
Candidates command_names(Words begun) {
  Candidates candidates;
  for (const Command& command : command_table()) {
    const std::size_t space = std::min(command.name.find(' '), command.name.size());
    if (begun.empty() && space == command.name.size()) {
      candidates.words.push_back({std::string(command.name), command.summary});
    } else if (begun.size() == 1 && space < command.name.size() && command.name.substr(0, space) == begun[0]) {
      candidates.words.push_back({std::string(command.name.substr(space + 1)), command.summary});
    }
  }
  return candidates;
}

Candidates values_of(const OptionRow& row) {
  const std::string_view value = row.value;
  Candidates candidates;
  for (const std::string_view choice : choices_of(row)) candidates.words.push_back({std::string(choice), ""});
  if (value == "FILE" || value == "PATH" || value == "SOURCE") candidates.others = Others::kFiles;
  if (value == "DIR") candidates.others = Others::kDirectories;
  return candidates;
}

Candidates options_of(const CommandSyntax& syntax) {
  Candidates candidates;
  for (const OptionRow& row : syntax.options) candidates.words.push_back({fmt::format("--{}", row.name), row.help});
  candidates.words.push_back({"--help", "print the help of the command"});
  return candidates;
}

// "--name" or "-n"; null: no option of the command.
const OptionRow* row_of(const CommandSyntax& syntax, std::string_view flag) {
  const auto found = std::ranges::find_if(syntax.options, [&](const OptionRow& row) {
    if (flag.starts_with("--")) return flag.substr(2) == row.name;
    return flag.size() == 2 && flag[0] == '-' && row.letter != kNoLetter && flag[1] == row.letter;
  });
  return found == syntax.options.end() ? nullptr : &*found;
}

bool takes_value(const OptionRow* row) { return row != nullptr && *row->value != '\0'; }

// How many of the words are arguments, not options or their values.
std::size_t arguments_in(const CommandSyntax& syntax, Words words) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() > 1 && words[i][0] == '-') {
      const bool has_value_next =
          takes_value(row_of(syntax, words[i])) || (i + 1 < words.size() && words[i + 1] == "=");
      if (i + 1 < words.size() && words[i + 1] == "=") ++i;  // bash makes three words of --name=value
      if (has_value_next) ++i;
    } else {
      ++count;
    }
  }
  return count;
}

// An argument of a synopsis, "[FILE...]".
struct Argument {
  std::string word;  // without brackets and dots
  bool is_optional = false, repeats = false;
};

std::vector<Argument> arguments_of(const Command& command) {
  std::istringstream synopsis(command.syntax().synopsis);
  std::string word;
  for (std::size_t i = 0; i <= word_count(command); ++i) synopsis >> word;  // muster and the command's name
  std::vector<Argument> arguments;
  while (synopsis >> word) {
    if (word == "[OPTION...]") continue;
    if (word.starts_with("--")) {  // an option that is required, and its value
      synopsis >> word;
      continue;
    }
    Argument argument{word, word.starts_with('['), word.find("...") != std::string::npos};
    std::erase_if(argument.word, [](char c) { return c == '[' || c == ']'; });
    if (argument.repeats) argument.word.resize(argument.word.find("..."));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

void add_values(const Argument& argument, Candidates& candidates) {
  const std::string& word = argument.word;
  if (word == "FILE" || word == "PLANS" || word == "SNAPSHOT" || word == "SNAPSHOTS" || word.ends_with(".csv")) {
    candidates.others = Others::kFiles;
  } else if (word.find('|') != std::string::npos) {
    std::istringstream choices(word);
    for (std::string choice; std::getline(choices, choice, '|');) candidates.words.push_back({choice, ""});
  }
}

// Of the argument at this place, and if it may be left out, of the next one.
Candidates values_at(const std::vector<Argument>& arguments, std::size_t place) {
  Candidates candidates;
  if (arguments.empty()) return candidates;
  if (place >= arguments.size() && !arguments.back().repeats) return candidates;
  for (std::size_t i = std::min(place, arguments.size() - 1); i < arguments.size(); ++i) {
    add_values(arguments[i], candidates);
    if (!arguments[i].is_optional) break;
  }
  return candidates;
}

// What may stand at the end of the command line, and the part of the last word that it replaces.
struct Completion {
  Candidates candidates;
  std::string_view kept;  // of the last word, before what is completed: "--name="
  std::string_view begun;
};

Completion completion_in(const Command& command, Words before, std::string_view last) {
  const CommandSyntax& syntax = command.syntax();
  const std::size_t equals = last.find('=');
  if (last.starts_with("--") && equals != std::string_view::npos) {
    const OptionRow* row = row_of(syntax, last.substr(0, equals));
    return {row == nullptr ? Candidates{} : values_of(*row), last.substr(0, equals + 1), last.substr(equals + 1)};
  }
  std::optional<std::string_view> flag;
  if (last == "=" && !before.empty()) {
    flag = before.back();
    last = "";
  } else if (before.size() > 1 && before.back() == "=") {
    flag = before[before.size() - 2];
  } else if (!before.empty() && takes_value(row_of(syntax, before.back()))) {
    flag = before.back();
  }
  if (flag) {
    const OptionRow* row = row_of(syntax, *flag);
    return {row == nullptr ? Candidates{} : values_of(*row), "", last};
  }
  if (last.starts_with('-')) return {options_of(syntax), "", last};
  if (command.name == "help") return {command_names(before), "", last};
  return {values_at(arguments_of(command), arguments_in(syntax, before)), "", last};
}

Completion completion_of(Words before, std::string_view last) {
  if (before.empty()) return {command_names({}), "", last};
  const Command* command = find_command(before);
  if (command == nullptr) return {{}, "", last};
  return completion_in(*command, before.subspan(word_count(*command)), last);
}

}  // namespace

int run_complete(int argc, const char* const* argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const std::string_view last = words.empty() ? "" : words.back();
  const Completion completion = completion_of(Words(words).first(words.empty() ? 0 : words.size() - 1), last);
  std::string text;
  for (const auto& [word, help] : completion.candidates.words) {
    if (!word.starts_with(completion.begun)) continue;
    text += fmt::format("{}{}{}{}\n", completion.kept, word, help.empty() ? "" : "\t", help);
  }
  text += fmt::format(":{}\n", static_cast<int>(completion.candidates.others));
  return print(text, kExitAnswered);
}

// `muster completion`: the scripts ask the program what may stand at the cursor (cli/completion.h), so they know what
// the table of commands of its version knows.

namespace {

constexpr std::string_view kBash = R"(# Completion of muster for bash, printed by `muster completion bash`.
_muster() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]/#\~/$HOME} others lines=()
  mapfile -t lines < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  COMPREPLY=()
  [ ${#lines[@]} -gt 0 ] || return
  [ "$word" != = ] || word=
  COMPREPLY=("${lines[@]:0:${#lines[@]}-1}")
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  case ${lines[-1]} in
    :0) mapfile -t others < <(compgen -f -- "$word") ;;
    :16) mapfile -t others < <(compgen -d -- "$word") ;;
    *) return ;;
  esac
  compopt -o filenames 2> /dev/null
  COMPREPLY+=("${others[@]}")
}
complete -F _muster muster kubectl-muster
)";

constexpr std::string_view kZsh = R"(#compdef muster kubectl-muster
# Completion of muster for zsh, printed by `muster completion zsh`.
_muster() {
  local -a lines candidates
  local line program=${~words[1]}
  lines=("${(@f)$("$program" __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  for line in "${(@)lines[1,-2]}"; do
    line=${line//:/\\:}
    candidates+=("${line/$'\t'/:}")
  done
  [[ ${#candidates} -eq 0 ]] || _describe -V muster candidates
  case ${lines[-1]} in
    :0) compset -P '--*='; _files ;;
    :16) compset -P '--*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _muster ]]; then
  _muster "$@"
else
  compdef _muster muster kubectl-muster
fi
)";

constexpr std::string_view kFish = R"(# Completion of muster for fish, printed by `muster completion fish`.
function __muster_complete
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$word" 2> /dev/null)
  test (count $lines) -gt 0; or return
  string match -v -r '^:[0-9]+$' -- $lines
  set -l start (string match -r '^--[^=]*=' -- "$word")
  set -l name (string replace -r '^--[^=]*=' '' -- "$word")
  switch $lines[-1]
    case :0
      printf '%s\n' "$start"(__fish_complete_path "$name")
    case :16
      printf '%s\n' "$start"(__fish_complete_directories "$name")
  end
end
complete -c muster -f -a '(__muster_complete)'
complete -c kubectl-muster -f -a '(__muster_complete)'
)";

constexpr std::string_view kKubectl = R"(#!/bin/sh
# Completion of `kubectl muster`, printed by `muster completion kubectl`: kubectl runs kubectl_complete-muster in PATH
# with the words after `kubectl muster`.
exec kubectl-muster __complete "$@"
)";

}  // namespace

const CommandSyntax& completion_syntax() {
  static const CommandSyntax syntax{
      "muster completion bash|zsh|fish|kubectl",
      "Prints a script that completes commands, options and their values. For kubectl: the program\n"
      "kubectl_complete-muster, which kubectl's own completion calls.",
      {},
      1,
      1};
  return syntax;
}

int run_completion(int argc, const char* const* argv) {
  const Settings settings(completion_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(completion_syntax()), kExitAnswered);
  const std::string& shell = settings.arguments().front();
  struct Script {
    std::string_view shell, text;
  };
  constexpr std::array<Script, 4> kScripts = {{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}, {"kubectl", kKubectl}}};
  for (const Script& script : kScripts) {
    if (script.shell == shell) return print(std::string(script.text), kExitAnswered);
  }
  throw UsageError("'" + shell + "' is not one of bash, zsh, fish, kubectl");
}

}  // namespace muster::cli
