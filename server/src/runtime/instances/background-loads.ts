/**
 * Limits the concurrent loads of overdue instances and instances of dead nodes. While clients are being served, the limit is
 * low, so that the store responds to them almost as fast as without these loads. Otherwise, only the gate of all loads limits
 * them.
 *
 * Some loads always continue, so that a backlog clears even under constant client load.
 */
import type { Clock } from '../../base/clock.js';
import { AdmissionQueue } from '../memory/admission-queue.js';

/** Maximum number of concurrent loads while clients are being served. Measured with `pnpm bench:take-over`. */
const BESIDE_CLIENTS_MAX = 2;
/** How long after a call clients are considered being served. */
const SERVING_MS = 1000;

export class BackgroundLoads {
  readonly #clock: Clock;
  readonly #queue = new AdmissionQueue({
    hasRoom: () => this.#hasRoom(),
    admit: () => (this.#underWay += 1),
  });
  #underWay = 0;
  #servedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call when a client has started a workflow, or when a client's message for an instance has been stored. */
  served(): void {
    this.#servedAt = this.#clock.now();
  }

  /** Waits for a permit. The returned function releases it, once. */
  async enter(): Promise<() => void> {
    await this.#queue.enter();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#underWay -= 1;
      this.#queue.admitWaiting();
    };
  }

  #hasRoom(): boolean {
    if (this.#underWay < BESIDE_CLIENTS_MAX) return true;
    return this.#clock.now() - this.#servedAt > SERVING_MS;
  }
}
