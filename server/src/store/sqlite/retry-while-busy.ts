/** Waiting for other processes that write to the same file. */
import { isBusy } from './sqlite-errors.js';

const PAUSE_MS_MAX = 2;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Runs `work` again while it fails because another process holds the lock, until the time is over. The pauses are short
 * and random: the lock is free for moments only, when another process writes without pause. Blocks its thread.
 */
export function retryWhileBusy<Result>(timeoutMs: number, work: () => Result): Result {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      Atomics.wait(pauseCell, 0, 0, Math.random() * PAUSE_MS_MAX);
    }
  }
}
