/**
 * Retries a call until it succeeds, with increasing pauses, while the store is unavailable or this node is overloaded: for callers
 * that can neither continue without the call nor fail.
 */
import { backOffMs } from '../../base/back-off.js';
import { sleep, type Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { StoreUnavailableError } from '../../store/store.js';

/** The back-off between calls of an unavailable store. */
export const STORE_BACK_OFF = { firstMs: 50, lastMs: 2000 };

export class StoreRetry {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  untilAnswered<Value>(ask: () => Promise<Value>): Promise<Value>;
  /** Returns null if `isCanceled` returned true before the call succeeded. */
  untilAnswered<Value>(ask: () => Promise<Value>, isCanceled: () => boolean): Promise<Value | null>;
  async untilAnswered<Value>(
    ask: () => Promise<Value>,
    isCanceled: () => boolean = () => false,
  ): Promise<Value | null> {
    for (let failures = 1; ; failures += 1) {
      if (isCanceled()) return null;
      try {
        return await ask();
      } catch (error) {
        if (!isTemporary(error)) throw error;
      }
      await sleep(this.#clock, backOffMs(failures, STORE_BACK_OFF));
    }
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  return error instanceof AppError && error.code === 'overloaded';
}
