/**
 * A fixed number of turns. Roots take turns one after the other, so that a workflow with a thousand descendants delays
 * others no more than one without. Within a root, turns are given in order of request.
 *
 * One instance can also take all turns: no other instance works until it returns them.
 */
import { AlternatingQueue } from './alternating-queue.js';

export class Turns {
  readonly #count: number;
  #free: number;
  readonly #waiting = new AlternatingQueue<() => void>();
  readonly #waitingAlone: (() => void)[] = [];
  #alone: string | null = null;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  /** Waits for a turn. The returned function gives it back; further calls have no effect. */
  async take(instanceId: string, rootId: string): Promise<() => void> {
    if (instanceId === this.#alone) return () => undefined;
    const free = this.tryTake();
    if (free !== null) return free;
    await new Promise<void>((resolve) => {
      this.#waiting.push(rootId, resolve);
    });
    return this.#taken();
  }

  /** Like `take`; null if no turn is free now. */
  tryTake(): (() => void) | null {
    if (this.#free === 0 || this.#waitingAlone.length > 0) return null;
    this.#free -= 1;
    return this.#taken();
  }

  #taken(): () => void {
    return once(() => {
      this.#free += 1;
      if (this.#waitingAlone.length > 0) this.#startAlone();
      else this.#startWaiting();
    });
  }

  /**
   * Waits until nobody has a turn, and prevents others from getting one. The returned function ends that; further calls
   * have no effect.
   */
  async takeAll(instanceId: string): Promise<() => void> {
    if (this.#free === this.#count) this.#free = 0;
    else {
      await new Promise<void>((resolve) => {
        this.#waitingAlone.push(resolve);
      });
    }
    this.#alone = instanceId;
    return once(() => {
      this.#alone = null;
      this.#free = this.#count;
      // The others go first now: many requests for all turns must not block them for long.
      this.#startWaiting();
      this.#startAlone();
    });
  }

  #startWaiting(): void {
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#free -= 1;
      next();
    }
  }

  #startAlone(): void {
    if (this.#free < this.#count) return;
    const next = this.#waitingAlone.shift();
    if (next === undefined) return;
    this.#free = 0;
    next();
  }
}

function once(callback: () => void): () => void {
  let isDue = true;
  return () => {
    if (!isDue) return;
    isDue = false;
    callback();
  };
}
