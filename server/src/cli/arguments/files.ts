/** Commands that work on definition and script files. */
import type { Command } from 'commander';
import type { ApplyOptions, DiffOptions } from '../commands/apply.js';
import type { FmtOptions } from '../commands/fmt.js';
import type { ValidateOptions } from '../commands/validate.js';
import { addCommands, serverCommand, type Call } from '../resources/server-command.js';

const PRUNE =
  'disable definitions that an earlier apply of the folder stored and that it no longer contains';
const ORIGIN = 'where the folder comes from; default: its repository, path and commit';

export function addFileCommands(program: Command): void {
  program
    .command('validate')
    .description('check definitions, scripts and limits without a server')
    .argument('<paths...>', 'files, or folders with .yaml, .yml, .json and .py files')
    .option('--strict', 'treat warnings as errors', false)
    .option('--json', 'print the problems as JSON', false)
    .option('--github', 'print the problems as GitHub Actions annotations', false)
    .action(async (paths: string[], options: ValidateOptions) => {
      const { validate } = await import('../commands/validate.js');
      process.exitCode = await validate(paths, options);
    });

  program
    .command('fmt')
    .description('format definitions: Id and StepType first, Prettier layout, comments kept')
    .argument('<paths...>', 'files, or folders with .yaml, .yml and .json files')
    .option('--check', 'change nothing; exit with 1 if a file is not formatted', false)
    .option('--json', 'print the result as JSON', false)
    .action(async (paths: string[], options: FmtOptions) => {
      const { fmt } = await import('../commands/fmt.js');
      process.exitCode = await fmt(paths, options);
    });

  addCommands(program, { diff, apply });
}

const FOLDER = 'definitions (.yaml, .yml, .json), limits (.limit.yaml) and scripts (.py)';

const diff = serverCommand({
  description: 'show what `apply` would change on a server',
  declare: (command) =>
    command
      .argument('[folder]', FOLDER, '.')
      .option('--exit-code', 'exit with 1 if there are differences', false)
      .option('--prune', PRUNE, false)
      .option('--origin <name>', ORIGIN),
  run: async (call: Call<DiffOptions>, folder: string) => {
    const commands = await import('../commands/apply.js');
    return commands.diff(folder, call.options, call.output);
  },
});

const apply = serverCommand({
  description: 'store the new and changed definitions, scripts and limits of a folder on a server',
  declare: (command) =>
    command
      .argument('[folder]', FOLDER, '.')
      .option('--dry-run', 'check everything and change nothing', false)
      .option('--prune', PRUNE, false)
      .option('-y, --yes', 'with --prune: disable without asking', false)
      .option('--origin <name>', ORIGIN),
  run: async (call: Call<ApplyOptions>, folder: string) => {
    const commands = await import('../commands/apply.js');
    return commands.apply(folder, call.options, call.output);
  },
});
