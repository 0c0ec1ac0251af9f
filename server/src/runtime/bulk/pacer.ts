/** Spreads actions evenly over time, at a fixed rate, however long each of them takes. */
import { sleepUntil, type Clock } from '../../base/clock.js';

/** Shorter delays of the process or the store are caught up; longer ones aren't. */
const CATCH_UP_MS = 1000;

export class Pacer {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #dueAt: number;
  readonly #closed = new AbortController();

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#dueAt = clock.now();
  }

  /** Resolves when the next action is due, or when the pacer is closed. */
  async turn(): Promise<void> {
    await this.pauseUntil(this.#dueAt);
    this.#dueAt = Math.max(this.#dueAt + this.#intervalMs, this.#clock.now() - CATCH_UP_MS);
  }

  async pauseUntil(time: number): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted && this.#clock.now() < time) await sleepUntil(this.#clock, time, signal);
  }

  /** Ends all waits, now and in the future. */
  close(): void {
    this.#closed.abort();
  }
}
