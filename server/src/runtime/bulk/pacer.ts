/** Spreads actions evenly over time: so many per second, whatever each of them takes. */
import type { Clock } from '../../base/clock.js';

/** What a short delay of the process or the store has cost is made up for; a longer one is not. */
const CATCH_UP_MS = 1000;

export class Pacer {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #dueAt: number;
  #wake: () => void = () => undefined;
  #isOpen = true;

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

  /** Only one caller waits at a time. */
  async pauseUntil(time: number): Promise<void> {
    while (this.#isOpen && this.#clock.now() < time) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.at(time, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  /** From now on, nobody waits. */
  close(): void {
    this.#isOpen = false;
    this.#wake();
  }
}
