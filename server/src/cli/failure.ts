/** Ends a command: what is wrong, what to do about it, and the exit code. */
import { EXIT_CODES, type ExitCode } from './exit-codes.js';

export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  /** What to do, in one sentence; empty if the message says it all. */
  readonly hint: string;

  constructor(message: string, hint = '', exitCode: ExitCode = EXIT_CODES.failed) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** @param message says which argument is wrong, and why */
export function misused(message: string): CommandFailure {
  return new CommandFailure(message, '', EXIT_CODES.misused);
}
