/**
 * How many instances that are overdue, or that a dead node left, are loaded at the same time. While clients are served,
 * few: the store then answers a client about as fast as without them. Otherwise as many as the gate of all loads admits.
 *
 * Some always go on, so that a backlog ends however busy the clients are.
 */
import type { Clock } from '../../base/clock.js';

/** At a time, while clients are served. Measured with `pnpm bench:take-over`. */
const BESIDE_CLIENTS_MAX = 2;
/** Clients are taken to be served for so long after a call. */
const SERVING_MS = 1000;

export class BackgroundLoads {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #servedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A client started a workflow, or something that it sent was stored for one. */
  served(): void {
    this.#servedAt = this.#clock.now();
  }

  /** Waits for its turn; the answer gives it back, once. */
  async enter(): Promise<() => void> {
    if (this.#waiting.length > 0 || !this.#hasRoom()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    } else this.#underWay += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#underWay -= 1;
      this.#admitWaiting();
    };
  }

  #admitWaiting(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underWay += 1;
      next();
    }
  }

  #hasRoom(): boolean {
    if (this.#underWay < BESIDE_CLIENTS_MAX) return true;
    return this.#clock.now() - this.#servedAt > SERVING_MS;
  }
}
