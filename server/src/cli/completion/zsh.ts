/** Completion for Zsh. */
import { quoted, spellings, stepsTo, type CommandNode } from './tree.js';

export function zshCompletion(nodes: readonly CommandNode[]): string {
  const steps = stepsTo(nodes).map(quoted).join('|');
  const values = nodes.flatMap(({ options, path }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const places = spellings(option).map((name) => quoted(`${path}:${name}`));
        const { choices } = option;
        const action =
          choices.length === 0 ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`;
        return `    (${places.join('|')}) ${action}; return ;;`;
      }),
  );
  const words = nodes.map(({ commands, options, path, values: known }) => {
    const commandItems = [
      ...commands.map(({ description, name }) => item(name, description)),
      ...known.map((name) => item(name, '')),
    ];
    const optionItems = options.flatMap((option) =>
      spellings(option).map((name) => item(name, option.description)),
    );
    return `    (${quoted(path)}) names=(${commandItems.join(' ')}); options=(${optionItems.join(' ')}) ;;`;
  });
  return `#compdef stepwright
# Completion of stepwright for zsh: eval "$(stepwright completion zsh)"
_stepwright() {
  local command='' index
  local -a names options
  for ((index = 2; index < CURRENT; index++)); do
    case "$command $words[index]" in
      (${steps}) command="\${command:+$command }$words[index]" ;;
    esac
  done
  case "$command:$words[CURRENT-1]" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  elif (( $#names )); then
    _describe command names
  else
    _files
  fi
}
if [[ $funcstack[1] == _stepwright ]]; then
  _stepwright "$@"
else
  compdef _stepwright stepwright
fi
`;
}

/** `name:description`: a colon separates them. */
function item(name: string, description: string): string {
  const text = name.replaceAll(':', '\\:');
  return quoted(description === '' ? text : `${text}:${description}`);
}
