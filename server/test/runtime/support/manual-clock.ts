/** A clock that stands still until the test moves it. */
import type { Clock } from '../../../src/base/clock.js';

export class ManualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #callbacks = new Set<{ readonly time: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  at(time: number, callback: () => void): () => void {
    const entry = { time, callback };
    this.#callbacks.add(entry);
    return () => this.#callbacks.delete(entry);
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#callbacks.size;
  }

  /** Fires what becomes due, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#callbacks]
        .filter(({ time }) => time <= until)
        .sort((a, b) => a.time - b.time)[0];
      if (due === undefined) break;
      this.#callbacks.delete(due);
      this.#now = Math.max(this.#now, due.time);
      due.callback();
    }
    this.#now = until;
  }
}
