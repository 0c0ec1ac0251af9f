/** The commands that work on the files of definitions and scripts. */
import type { Command } from 'commander';

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
}

interface ValidateArguments {
  readonly strict: boolean;
  readonly json: boolean;
  readonly github: boolean;
}
