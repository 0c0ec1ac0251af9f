/** Spreads actions evenly over time: so many per second, whatever each of them takes. */
import { sleepUntil, type Clock } from '../../base/clock.js';

/** What a short delay of the process or the store has cost is made up for; a longer one is not. */
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

  /** From now on, nobody waits. */
  close(): void {
    this.#closed.abort();
  }
}
