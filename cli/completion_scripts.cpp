// `muster completion`: the scripts ask the program what may stand at the cursor (cli/completion.h), so they know what
// the table of commands of its version knows.
#include <array>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/options.h"
#include "cli/terminal/output.h"

namespace muster::cli {
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
