/**
 * The command `stepwright`. Commands that run a server or work on files load their code when they run, so that `--help` is
 * quick and the server holds nothing of the others.
 */
import { CommanderError } from 'commander';
import { endWithLauncher } from '../end-with-launcher.js';
import { EXIT_CODES } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { printNote } from './output/output.js';
import { continued } from './output/plain-text.js';
import { createProgram } from './program.js';

// `stepwright list | head`: the reader closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

endWithLauncher(process.env);

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the reason.
    process.exitCode = error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.misused;
  } else {
    const message = error instanceof Error ? error.message : String(error);
    printNote(`stepwright: ${continued(message)}`);
    if (error instanceof CommandFailure && error.hint !== '')
      printNote(`  ${continued(error.hint)}`);
    process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT_CODES.failed;
  }
}
