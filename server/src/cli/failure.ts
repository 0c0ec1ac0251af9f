/** Errors that end a command, with a hint and an exit code. */
import { EXIT_CODES, type ExitCode } from './exit-codes.js';

export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  /** One sentence about the fix; empty if the message is sufficient. */
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
