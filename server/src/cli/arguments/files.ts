/** The commands that work on the files of definitions and scripts. */
import type { Command } from 'commander';
import type { FmtOptions } from '../commands/fmt.js';

export function addFileCommands(program: Command): void {
  program
    .command('validate')
    .description('check definitions and scripts without a server')
    .argument('<paths...>', 'files, or folders with .yaml, .yml, .json and .py files')
    .option('--strict', 'treat warnings as errors', false)
    .option('--json', 'print the problems as JSON', false)
    .option('--github', 'print the problems as annotations of GitHub Actions', false)
    .action(async (paths: string[], options: ValidateArguments) => {
      const { validate } = await import('../commands/validate.js');
      const format = options.json ? 'json' : options.github ? 'github' : 'text';
      process.exitCode = await validate(paths, { format, strict: options.strict });
    });

  program
    .command('fmt')
    .description('format definitions: canonical order of members, even layout; comments stay')
    .argument('<paths...>', 'files, or folders with .yaml, .yml and .json files')
    .option('--check', 'change nothing; end with 1 if a file is not formatted', false)
    .option('--json', 'print the result as JSON', false)
    .action(async (paths: string[], options: FmtOptions) => {
      const { fmt } = await import('../commands/fmt.js');
      process.exitCode = await fmt(paths, options);
    });
}

interface ValidateArguments {
  readonly strict: boolean;
  readonly json: boolean;
  readonly github: boolean;
}
