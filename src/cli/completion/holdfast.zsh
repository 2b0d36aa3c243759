#compdef holdfast
# Completes the words of holdfast in zsh: source <(holdfast completion zsh)
_holdfast() {
  local line value
  local -a words_found beginnings
  for line in "${(@f)$(${~words[1]} __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}"; do
    value=${line%%$'\t'*}
    case $line in
      '') ;;
      $'\tfiles') _files; return ;;
      $'\tcommands') _command_names -e; return ;;
      *$'\t'*) words_found+=("${value//:/\\:}:${line#*$'\t'}") ;;
      *=) beginnings+=("${value//:/\\:}") ;;
      *) words_found+=("${value//:/\\:}") ;;
    esac
  done
  _describe -t words holdfast words_found -- beginnings -S ''
}
if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast
else
  compdef _holdfast holdfast
fi
