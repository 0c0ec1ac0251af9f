/** Pauses that grow from failure to failure, and end early when they are told to. */

/** How pauses grow. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * The pause after so many failures in a row. Half of it is random, so that workers that lost a server together do not come
 * back to it together.
 */
export function backoffMs(failures: number, { firstMs, lastMs }: BackoffRange): number {
  const whole = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return whole * (0.5 + Math.random() / 2);
}

/** Resolves after the time or when the signal fires, whichever is first. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

/** Resolves with null when the signal fires. */
export function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
