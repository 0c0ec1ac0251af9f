/** Commands that run a server or work on its store. */
import type { Command } from 'commander';
import type { DevOptions } from '../commands/dev.js';

export function addServerCommands(program: Command): void {
  program
    .command('start')
    .description('start the server')
    .action(async () => {
      await import('../../main.js');
    });

  program
    .command('dev')
    .description(
      'start the server, and register definitions, scripts and limits in a folder whenever they change',
    )
    .argument(
      '[folder]',
      'definitions (.yaml, .yml, .json), limits (.limit.yaml) and scripts (.py)',
      '.',
    )
    .option('--memory', 'keep runs and definitions in memory only', false)
    .option(
      '--test',
      'also run the tests in the folder, and rerun them whenever a file changes',
      false,
    )
    .action(async (folder: string, options: DevOptions) => {
      const { dev } = await import('../commands/dev.js');
      await dev(folder, options);
    });

  program
    .command('migrate-store')
    .description('copy a store to another one; --help lists its arguments')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      // The command parses its own arguments.
      process.argv.splice(2, 1);
      await import('../../migrate-store.js');
    });
}
