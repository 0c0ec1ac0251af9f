/**
 * Turns in which the instances of a node work: a limited number at the same time. Roots alternate, so that an instance with a
 * thousand descendants delays others no more than one without.
 *
 * An instance can also work alone, once no other does.
 */
import { createTurns, type WeightedQueue } from '../../base/limits/weighted-queue.js';

/** No root has this id. */
const ALONE = '';

export class WorkTurns {
  readonly #turns: WeightedQueue;
  /** The instance that works alone. */
  #alone: string | null = null;

  constructor(count: number) {
    this.#turns = createTurns(count);
  }

  /** Number of requests for a turn that wait. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /** Waits for a turn. The returned function ends it; further calls have no effect. */
  async take(root: string, instanceId: string): Promise<() => void> {
    // Its own turns are part of the ones that it has.
    if (instanceId === this.#alone) return () => undefined;
    const turn = await this.#turns.enter(root, 1);
    return () => turn.release();
  }

  /** Waits until no instance works, and then lets only this one work until the returned function is called. */
  async takeAll(instanceId: string): Promise<() => void> {
    const all = await this.#turns.enter(ALONE, this.#turns.limit);
    this.#alone = instanceId;
    return () => {
      if (this.#alone === instanceId) this.#alone = null;
      all.release();
    };
  }
}
