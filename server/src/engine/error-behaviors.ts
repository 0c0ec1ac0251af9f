/** What can be done about a failed step, apart from compensation. */
import { cancelAll } from './cancel-inside.js';
import type { Pointer } from './pointer.js';
import { restart, stepOf, type Run } from './run.js';

/** The longest pause that back-off can reach. */
const RETRY_INTERVAL_MS_MAX = 24 * 60 * 60 * 1000;

/** Lets the step sleep until its next attempt; false when its retries are used up. */
export function tryRetry(run: Run, pointer: Pointer): boolean {
  const step = stepOf(run, pointer);
  if (step.maxRetries !== null && pointer.retries >= step.maxRetries) return false;
  const intervalMs = step.retryIntervalMs * step.retryBackoff ** pointer.retries;
  pointer.retries += 1;
  restart(run, pointer, run.now + Math.min(intervalMs, RETRY_INTERVAL_MS_MAX));
  return true;
}

/** Stops the instance; resuming runs the step again, with all its retries. */
export function suspendOnError(run: Run, pointer: Pointer): void {
  run.instance.status = 'Suspended';
  pointer.retries = 0;
  restart(run, pointer, null);
}

/** Ends the instance with everything in it. */
export function terminate(run: Run, at: number): void {
  const { instance } = run;
  const { lastError } = instance;
  cancelAll(run);
  instance.status = 'Terminated';
  instance.endTime = at;
  // Removing a pointer clears its error, but here the error is why the instance ended.
  instance.lastError = lastError;
  run.dirty = true;
}
