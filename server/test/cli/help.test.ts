/** Goal: the help of every command fits a terminal, and leaves nothing unexplained. */
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';

const COLUMNS = 80;

function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)];
}

/** With what is printed after it. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => COLUMNS,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return help;
}

const commands = commandsBelow(createProgram());

it('explains every command, argument and option', () => {
  expect(commands.length).toBeGreaterThan(60);
  const unexplained = commands.flatMap((command) => [
    ...(command.description() === '' ? [command.name()] : []),
    ...[...command.options, ...command.registeredArguments]
      .filter(({ description }) => description === '')
      .map((each) => `${command.name()} ${each.name()}`),
  ]);
  expect(unexplained).toEqual([]);
});

it('fits 80 columns for every command', () => {
  for (const command of commands) {
    const wide = helpOf(command)
      .split('\n')
      .filter((line) => line.length > COLUMNS);
    expect(wide, command.name()).toEqual([]);
  }
});
