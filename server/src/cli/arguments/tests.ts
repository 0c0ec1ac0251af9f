/** The command that runs test files. */
import type { Command } from 'commander';
import type { TestCommandOptions } from '../commands/test.js';
import { readPercent } from './values.js';

export function addTestCommand(program: Command): void {
  program
    .command('test')
    .description('run definition tests, without a server or waiting times')
    .argument('[paths...]', 'files, or folders with .test.yaml files', ['.'])
    .option('-t, --filter <text>', 'run only the cases whose name contains the text', '')
    .option('-u, --update', 'write the snapshots instead of comparing them', false)
    .option('-w, --watch', 'run again when a file changes', false)
    .option('--json', 'print the results as JSON', false)
    .option('--junit <file>', 'write the results to a file in JUnit format')
    .option('--coverage', 'print the coverage of steps and branches')
    .option(
      '--coverage-html <path>',
      'write the coverage to an HTML file, or to index.html in a folder',
    )
    .option(
      '--coverage-min <percent>',
      'fail if the coverage of steps and branches is lower',
      readPercent,
    )
    .action(async (paths: string[], options: TestCommandOptions) => {
      const { TestPythons } = await import('../../test-kit/files/pythons.js');
      await using pythons = new TestPythons();
      // Loading it takes as long as loading everything else.
      pythons.start();
      const { test } = await import('../commands/test.js');
      process.exitCode = await test(paths, options, pythons);
    });
}
