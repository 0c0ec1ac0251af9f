/** Commands that work on definition and script files. */
import type { Command } from 'commander';
import type { ApplyOptions, DiffOptions } from '../commands/apply.js';
import type { FmtOptions } from '../commands/fmt.js';
import { withOutput } from '../connection/options.js';

const PRUNE =
  'disable definitions that an earlier apply of the folder stored and that it no longer contains';
const ORIGIN = 'where the folder comes from; default: its repository, path and commit';

export function addFileCommands(program: Command): void {
  program
    .command('validate')
    .description('check definitions and scripts without a server')
    .argument('<paths...>', 'files, or folders with .yaml, .yml, .json and .py files')
    .option('--strict', 'treat warnings as errors', false)
    .option('--json', 'print the problems as JSON', false)
    .option('--github', 'print the problems as GitHub Actions annotations', false)
    .action(async (paths: string[], options: ValidateArguments) => {
      const { validate } = await import('../commands/validate.js');
      const format = options.json ? 'json' : options.github ? 'github' : 'text';
      process.exitCode = await validate(paths, { format, strict: options.strict });
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

  withOutput(
    program
      .command('diff')
      .description('show what `apply` would change on a server')
      .argument('[folder]', 'definitions (.yaml, .yml, .json) and custom step scripts (.py)', '.')
      .option('--exit-code', 'exit with 1 if there are differences', false)
      .option('--prune', PRUNE, false)
      .option('--origin <name>', ORIGIN),
  ).action(async (folder: string, options: DiffOptions) => {
    const { diff } = await import('../commands/apply.js');
    process.exitCode = await diff(folder, options);
  });

  withOutput(
    program
      .command('apply')
      .description('store the new and changed definitions and scripts of a folder on a server')
      .argument('[folder]', 'definitions (.yaml, .yml, .json) and custom step scripts (.py)', '.')
      .option('--dry-run', 'check everything and change nothing', false)
      .option('--prune', PRUNE, false)
      .option('-y, --yes', 'with --prune: disable without asking', false)
      .option('--origin <name>', ORIGIN),
  ).action(async (folder: string, options: ApplyOptions) => {
    const { apply } = await import('../commands/apply.js');
    process.exitCode = await apply(folder, options);
  });
}

interface ValidateArguments {
  readonly strict: boolean;
  readonly json: boolean;
  readonly github: boolean;
}
