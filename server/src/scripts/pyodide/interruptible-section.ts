/**
 * Runs code that can be interrupted from outside, even in the middle of WebAssembly.
 *
 * V8's own time limit creates a thread for every call, which costs more than the expression that it guards.
 * Interrupting with SIGINT needs a thread as well, but only one for as long as any such section is open. So a process
 * opens one section for as long as it serves, and nests a section in it for each call, which takes a microsecond.
 * SIGINT, which the server sends when the time is up, ends the innermost section.
 */
import vm from 'node:vm';

export class InterruptibleSection {
  readonly #script: vm.Script;

  /** @param name of the global function through which the section is entered; vm.Script has no other way */
  constructor(name: string, work: () => void) {
    Object.defineProperty(globalThis, name, { value: work });
    this.#script = new vm.Script(`${name}()`);
  }

  /**
   * @param limitMs the time after which the section is interrupted; unlimited by default
   * @returns whether the work completed, that is, was not interrupted
   * @throws any error of the work
   */
  run(limitMs?: number): boolean {
    const timeout = limitMs === undefined ? {} : { timeout: limitMs };
    try {
      this.#script.runInThisContext({ breakOnSigint: true, ...timeout });
      return true;
    } catch (error) {
      if (wasEnded(error)) return false;
      throw error;
    }
  }
}

const ENDED = new Set<unknown>([
  'ERR_SCRIPT_EXECUTION_INTERRUPTED',
  'ERR_SCRIPT_EXECUTION_TIMEOUT',
]);

function wasEnded(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ENDED.has(error.code);
}
