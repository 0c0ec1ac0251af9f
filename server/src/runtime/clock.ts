/** Time, as a part that tests and simulations can replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, not before `time`. The answer takes the call back; doing that twice, or late, is harmless. */
  at(time: number, callback: () => void): () => void;
}

/** The longest pause that setTimeout can make; longer ones are made of several. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const remainingMs = time - Date.now();
      // Node may fire a millisecond early by the wall clock; a timer of ours never does.
      if (remainingMs <= 0) timer = setTimeout(callback, 0);
      else if (remainingMs > TIMEOUT_MS_MAX) timer = setTimeout(arm, TIMEOUT_MS_MAX);
      else timer = setTimeout(arm, Math.ceil(remainingMs));
    };
    const remainingMs = time - Date.now();
    timer = setTimeout(arm, Math.min(Math.max(remainingMs, 0), TIMEOUT_MS_MAX));
    return () => clearTimeout(timer);
  },
};
