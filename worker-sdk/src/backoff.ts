/** Pauses that grow with each failure. */

/** The first and the longest pause. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * The pause after a number of consecutive failures, in milliseconds. Half of it is random, so that workers that lost the server
 * at the same time do not return at the same time.
 */
export function backoffMs(failures: number, { firstMs, lastMs }: BackoffRange): number {
  const whole = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return whole * (0.5 + Math.random() / 2);
}

/** Resolves with null when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
