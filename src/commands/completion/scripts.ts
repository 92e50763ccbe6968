/** The shells that `ostiary completion` supports. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The command that the scripts run at each completion; the words up to the cursor follow. It is not part of the public interface. */
export const suggestCommand = '__suggest';

/** The line with which `__suggest` asks the shell to complete file names, too. */
export const filesMark = ':files';

// Each script passes the typed words as arguments. None of them evaluates a word: completing `--url $(command)` must not run the command.

const bash = `# bash completion for ostiary
_ostiary() {
  local line
  COMPREPLY=()
  compopt +o default
  while IFS= read -r line; do
    if [[ $line == ${filesMark} ]]; then
      compopt -o default
    else
      COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
      [[ $line == *=$'\\t'* ]] && compopt -o nospace
    fi
  done < <("$1" ${suggestCommand} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _ostiary ostiary
`;

const zsh = `#compdef ostiary
# zsh completion for ostiary
_ostiary() {
  local line files=
  local -a candidates open
  for line in "\${(@f)$("$words[1]" ${suggestCommand} -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    if [[ $line == ${filesMark} ]]; then
      files=1
    elif [[ $line == *=$'\\t'* ]]; then
      open+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    elif [[ -n $line ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  local found=1
  (( $#candidates )) && _describe -t ostiary ostiary candidates && found=0
  (( $#open )) && _describe -t ostiary ostiary open -S '' && found=0
  if [[ -n $files ]]; then
    compset -P '*='
    _files && found=0
  fi
  return found
}
if [[ $funcstack[1] == _ostiary ]]; then _ostiary "$@"; else compdef _ostiary ostiary; fi
`;

const fish = `# fish completion for ostiary
function __ostiary_suggest
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] ${suggestCommand} -- $words[2..-1] "$current" 2> /dev/null)
        if test "$line" = ${filesMark}
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c ostiary -f -a '(__ostiary_suggest)'
`;

/** The completion script of each shell. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
