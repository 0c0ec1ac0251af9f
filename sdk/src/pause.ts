/**
 * Waits between two attempts or rounds, as the SDK itself does.
 *
 * @param ms the time in milliseconds
 * @returns a promise that resolves after the time or when the signal is aborted, whichever comes first; it never rejects
 * @example
 * ```ts
 * import { pause } from '@stepwright/sdk';
 *
 * const stop = new AbortController();
 * const paused = pause(60_000, stop.signal);
 * stop.abort();
 * await paused;
 * console.log(stop.signal.aborted); // true
 * ```
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted === true) done();
  });
}
