# Completes the words of holdfast in bash: source <(holdfast completion bash)
_holdfast() {
  local words=() word last=${COMP_WORDS[COMP_CWORD]} is_glued=

  # Bash splits words at = and :, holdfast does not.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $word =~ ^[=:]+$ || $is_glued ]] && ((${#words[@]})); then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    [[ $word =~ ^[=:]+$ ]] && is_glued=1 || is_glued=
  done
  [[ $last =~ ^[=:]+$ ]] && last=
  local before=${words[-1]%"$last"} quote=${last%"${last#[\"\']}"}

  local line value
  COMPREPLY=()
  while IFS= read -r line; do
    value=${line%%$'\t'*}
    if [[ $line == $'\tfiles' ]]; then
      compopt -o default
    elif [[ $line == $'\tcommands' ]]; then
      mapfile -t COMPREPLY < <(compgen -c -- "$last")
    elif [[ $quote ]]; then
      COMPREPLY+=("${value#"$before"}")
    else
      COMPREPLY+=("$(printf %q "${value#"$before"}")")
    fi
  done < <("$1" __complete -- "${words[@]//[\\\"\']/}" 2>/dev/null </dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -F _holdfast holdfast
