/** Time, as a service that tests and simulations can replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls `callback` once, not before `time`. A clock that is set back meanwhile does not delay the call, so a caller that
   * must not be early checks the clock again. The returned function cancels the call; calling it twice or late is harmless.
   *
   * @param isRoutine the call is a round of a periodic task, which nothing depends on while all goes well
   */
  at(time: number, callback: () => void, isRoutine?: boolean): () => void;
}

/** Resolves at `time`, or when the signal is aborted, whichever comes first. */
export function sleepUntil(
  clock: Pick<Clock, 'at'>,
  time: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.at(time, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Resolves after the time, or when the signal is aborted, whichever comes first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return sleepUntil(clock, clock.now() + ms, signal);
}

/** The longest pause that setTimeout supports; longer pauses are split. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
/** A clock that is behind by more than this after the whole pause was set back. */
const SET_BACK_MS_MIN = 1000;

export const systemClock: Clock = clockOf(() => Date.now());

export function clockOf(now: () => number): Clock {
  return {
    now,
    at(time, callback) {
      const overAt = performance.now() + time - now();
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const remainingMs = time - now();
        const isLagging = remainingMs <= SET_BACK_MS_MIN;
        const pauseMs = isLagging ? remainingMs : overAt - performance.now();
        // Node may fire a millisecond early by the wall clock; our timers never do.
        if (pauseMs <= 0) timer = setTimeout(callback, 0);
        else timer = setTimeout(arm, Math.min(Math.ceil(pauseMs), TIMEOUT_MS_MAX));
      };
      timer = setTimeout(arm, Math.min(Math.max(time - now(), 0), TIMEOUT_MS_MAX));
      return () => clearTimeout(timer);
    },
  };
}
