/**
 * Retries a store call until it succeeds, with increasing pauses: for callers that can neither continue without the store
 * nor fail.
 */
import type { Clock } from '../../base/clock.js';
import { StoreUnavailableError } from '../../store/store.js';

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 2000;

export class StoreRetry {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  untilAnswered<Value>(ask: () => Promise<Value>): Promise<Value>;
  /** Returns null if `isCancelled` returned true before the store responded. */
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
        if (!(error instanceof StoreUnavailableError)) throw error;
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
