/** The completion candidates: commands, options and values, taken from the command tree. */
import type { Command } from 'commander';

interface Suggestion {
  readonly name: string;
  readonly description: string;
}

interface SuggestedOption extends Suggestion {
  /** `-d`. */
  readonly short: string | null;
  readonly takesValue: boolean;
  /** Empty if any value is allowed. */
  readonly choices: readonly string[];
}

export interface CommandNode {
  /** `bulk create`; empty for `stepwright` itself. */
  readonly path: string;
  readonly commands: readonly Suggestion[];
  readonly options: readonly SuggestedOption[];
  /** The known values of its arguments. */
  readonly values: readonly string[];
}

export function nodesOf(command: Command, path = ''): readonly CommandNode[] {
  const visible = command.createHelp();
  const commands = visible.visibleCommands(command);
  const node = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: visible.visibleOptions(command).map((option) => ({
      name: option.long ?? option.flags,
      description: option.description,
      short: option.short ?? null,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
    values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  const below = commands.flatMap((each) =>
    nodesOf(each, path === '' ? each.name() : `${path} ${each.name()}`),
  );
  return [node, ...below];
}

/** `' run'` and `'bulk create'`: the path so far, and the next word. */
export function stepsTo(nodes: readonly CommandNode[]): readonly string[] {
  return nodes.flatMap(({ commands, path }) => commands.map(({ name }) => `${path} ${name}`));
}

/** All spellings of an option. */
export function spellings({ name, short }: SuggestedOption): readonly string[] {
  return short === null ? [name] : [name, short];
}

/** Quotes a text as one shell word, without expansion. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
