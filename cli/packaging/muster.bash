# Completion of muster for bash. Commands and options come from the program's own help, so they are those of its version.
_muster() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" help 2> /dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2> /dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*')" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _muster muster kubectl-muster
