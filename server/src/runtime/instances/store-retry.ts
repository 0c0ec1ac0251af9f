/**
 * Retries a call until it succeeds, with increasing pauses, while the store is unavailable or this node is overloaded: for callers
 * that can neither continue without the call nor fail.
 */
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { StoreUnavailableError } from '../../store/store.js';

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 2000;

export class StoreRetry {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  untilAnswered<Value>(ask: () => Promise<Value>): Promise<Value>;
  /** Returns null if `isCancelled` returned true before the call succeeded. */
  untilAnswered<Value>(
    ask: () => Promise<Value>,
    isCancelled: () => boolean,
  ): Promise<Value | null>;
  async untilAnswered<Value>(
    ask: () => Promise<Value>,
    isCancelled: () => boolean = () => false,
  ): Promise<Value | null> {
    for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      if (isCancelled()) return null;
      try {
        return await ask();
      } catch (error) {
        if (!isTemporary(error)) throw error;
      }
      await this.#pause(pauseMs);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.at(this.#clock.now() + ms, resolve);
    });
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  return error instanceof AppError && error.code === 'overloaded';
}
