/** Completion for fish. */
import { stepsTo, type CommandNode } from './tree.js';

export function fishCompletion(nodes: readonly CommandNode[]): string {
  const lines = nodes.flatMap(({ commands, options, path, values }) => {
    const here = `complete -c stepwright -n ${quoted(`test "$(__stepwright_command)" = "${path}"`)}`;
    return [
      ...commands.map(
        ({ description, name }) => `${here} -f -a ${quoted(name)} -d ${quoted(description)}`,
      ),
      ...values.map((value) => `${here} -f -a ${quoted(value)}`),
      ...options.map(({ choices, description, name, short, takesValue }) => {
        const parts = [here, `-l ${quoted(name.replace(/^--/, ''))}`];
        if (short !== null) parts.push(`-s ${quoted(short.replace(/^-/, ''))}`);
        if (takesValue) parts.push('-r');
        if (choices.length > 0) parts.push(`-f -a ${quoted(choices.join(' '))}`);
        return [...parts, `-d ${quoted(description)}`].join(' ');
      }),
    ];
  });
  return `# Completion of stepwright for fish: stepwright completion fish | source
function __stepwright_command
    set -l command ''
    for word in (commandline -opc)[2..]
        switch "$command $word"
            case ${stepsTo(nodes).map(quoted).join(' ')}
                set command (string trim -- "$command $word")
        end
    end
    echo $command
end
${lines.join('\n')}
`;
}

/** Fish has its own escaping rules inside quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
