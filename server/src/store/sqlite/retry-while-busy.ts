/** Waits for other processes that write to the same file. */
import { isBusy } from './sqlite-errors.js';

const PAUSE_MS_MAX = 2;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Retries `work` while another process holds the lock, until the time is up. The pauses are short and random, because a
 * process that writes continuously frees the lock only for moments. Blocks its thread.
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
