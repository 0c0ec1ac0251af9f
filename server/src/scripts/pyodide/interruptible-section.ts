/**
 * Running something that can be ended from outside, also in the midst of WebAssembly.
 *
 * V8's own limit on time makes a thread for every call, which costs more than the expression that it guards. Ending on
 * SIGINT needs a thread as well, but one for as long as any such section is open. So a process opens one section for as
 * long as it serves, with a section inside of it for each call: that costs a microsecond, and SIGINT, which the server
 * sends when the time is over, ends the innermost.
 */
import vm from 'node:vm';

export class InterruptibleSection {
  readonly #script: vm.Script;

  /** @param name of a global through which the section is entered: vm.Script knows no other way */
  constructor(name: string, work: () => void) {
    Object.defineProperty(globalThis, name, { value: work });
    this.#script = new vm.Script(`${name}()`);
  }

  /**
   * @param limitMs when it is ended without anybody asking for it; never when left out
   * @returns whether it came to its end by itself
   * @throws what the work throws
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
