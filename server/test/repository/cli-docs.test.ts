/** Checks that docs/cli.md contains the help of every command. Run with UPDATE_DOCS=1 to update it. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { EXIT_CODES, EXIT_CODE_MEANINGS } from '../../src/cli/exit-codes.js';
import { createProgram } from '../../src/cli/program.js';

const FILE = new URL('../../../docs/cli.md', import.meta.url);
const HELP_WIDTH = 100;

function exitCodes(): string {
  const rows = Object.entries(EXIT_CODE_MEANINGS).map(
    ([name, meaning]) => `| ${EXIT_CODES[name as keyof typeof EXIT_CODES]} | ${meaning} |`,
  );
  return ['| Code | Meaning |', '| --- | --- |', ...rows].join('\n');
}

/** The help of all commands that do something, in the order of `--help`. */
function reference(command: Command, path: string): string[] {
  command.configureOutput({ getOutHelpWidth: () => HELP_WIDTH, getOutHasColors: () => false });
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => reference(each, `${path} ${each.name()}`));
  }
  const help = command
    .helpInformation()
    // They are the same everywhere.
    .replace(/\nConnection:\n( .*\n)+/, '')
    .replace(/^ {2}-h, --help .*\n/m, '')
    .replace(/\nOptions:\n(?! )/, '\n')
    .replaceAll(/ +$/gm, '')
    .trim();
  return [`### ${path}\n\n\`\`\`text\n${help}\n\`\`\``];
}

function withPart(text: string, name: string, content: string): string {
  const [before = '', rest = ''] = text.split(`<!-- ${name} -->\n`);
  const [, after = ''] = rest.split(`<!-- end of ${name} -->`);
  return `${before}<!-- ${name} -->\n\n${content}\n\n<!-- end of ${name} -->${after}`;
}

it('documents the help of every command, and every exit code', () => {
  const text = readFileSync(FILE, 'utf8');
  const commands = reference(createProgram(), 'stepwright');
  expect(commands.length).toBeGreaterThan(25);
  const fresh = withPart(
    withPart(text, 'exit codes', exitCodes()),
    'commands',
    commands.join('\n\n'),
  );
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, fresh);
  expect(readFileSync(FILE, 'utf8')).toBe(fresh);
});
