/**
 * The command `stepwright`. Each command loads its own code, so that `--help` is quick and the server holds nothing of the
 * others.
 */
import { CommanderError } from 'commander';
import { EXIT_CODES } from './exit-codes.js';
import { createProgram } from './program.js';

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the reason.
    process.exitCode = error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.misused;
  } else {
    process.stderr.write(`stepwright: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT_CODES.failed;
  }
}
