/** Runs synchronous work that is stopped when its time is up. */
import { createContext, Script } from 'node:vm';

/** The platform can interrupt a script only, so the work is called from one. */
const script = new Script('run()');
const globals: { run: () => void } = { run: () => undefined };
createContext(globals);

/** The work took too long, or did not end. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** @throws OutOfTime, and what the work throws */
export function withinTime<Result>(limitMs: number, work: () => Result): Result {
  const results: Result[] = [];
  globals.run = () => {
    results.push(work());
  };
  try {
    script.runInContext(globals, { timeout: limitMs });
  } catch (error) {
    throw isTimeout(error) ? new OutOfTime() : error;
  } finally {
    globals.run = () => undefined;
  }
  const [result] = results;
  // The work has ended, so its result is there; it may be undefined.
  return result as Result;
}

function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
