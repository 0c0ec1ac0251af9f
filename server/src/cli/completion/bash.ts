/** Completion for Bash. */
import { quoted, spellings, stepsTo, type CommandNode } from './tree.js';

export function bashCompletion(nodes: readonly CommandNode[]): string {
  const steps = stepsTo(nodes).map(quoted).join(' | ');
  const values = nodes.flatMap(({ options, path }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const places = spellings(option).map((name) => quoted(`${path}:${name}`));
        const choices = quoted(option.choices.join(' '));
        return `    ${places.join(' | ')}) _stepwright_words ${choices}; return ;;`;
      }),
  );
  const words = nodes.map(({ commands, options, path, values: known }) => {
    const names = [...commands.map(({ name }) => name), ...known, ...options.flatMap(spellings)];
    return `    ${quoted(path)}) _stepwright_words ${quoted(names.join(' '))} ;;`;
  });
  return `# Completion of stepwright for bash: eval "$(stepwright completion bash)"
_stepwright_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}
_stepwright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${steps}) command="\${command:+$command }\${COMP_WORDS[index]}" ;;
    esac
  done
  case "$command:$before" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
}
# Files, where nothing else is known.
complete -o default -F _stepwright stepwright
`;
}
