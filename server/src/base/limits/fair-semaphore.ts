/**
 * A fixed number of permits. Owners that wait for one alternate, so an owner with a thousand requests delays others no more
 * than an owner with one. Within an owner, the order is that of arrival.
 *
 * One holder can also take all permits: no other gets one until it returns them.
 */
import { AlternatingQueue } from './alternating-queue.js';

export class FairSemaphore {
  readonly #count: number;
  #free: number;
  readonly #waiting = new AlternatingQueue<() => void>();
  readonly #waitingForAll: (() => void)[] = [];
  #holderOfAll: string | null = null;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  /** Number of requests that wait for one permit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for a permit. The returned function returns it; further calls have no effect.
   * @param holder may hold all permits already
   */
  async acquire(owner: string, holder: string | null = null): Promise<() => void> {
    if (holder !== null && holder === this.#holderOfAll) return () => undefined;
    const free = this.tryAcquire();
    if (free !== null) return free;
    await new Promise<void>((resolve) => {
      this.#waiting.push(owner, resolve);
    });
    return this.#acquired();
  }

  /** Like `acquire`; null if no permit is free now. */
  tryAcquire(): (() => void) | null {
    if (this.#free === 0 || this.#waitingForAll.length > 0) return null;
    this.#free -= 1;
    return this.#acquired();
  }

  /** Waits until all permits are free, and takes them. The returned function returns them; further calls have no effect. */
  async acquireAll(holder: string): Promise<() => void> {
    if (this.#free === this.#count) this.#free = 0;
    else {
      await new Promise<void>((resolve) => {
        this.#waitingForAll.push(resolve);
      });
    }
    this.#holderOfAll = holder;
    return once(() => {
      this.#holderOfAll = null;
      this.#free = this.#count;
      // The others go first now: many requests for all permits must not block them for long.
      this.#admitWaiting();
      this.#admitForAll();
    });
  }

  #acquired(): () => void {
    return once(() => {
      this.#free += 1;
      if (this.#waitingForAll.length > 0) this.#admitForAll();
      else this.#admitWaiting();
    });
  }

  #admitWaiting(): void {
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#free -= 1;
      next();
    }
  }

  #admitForAll(): void {
    if (this.#free < this.#count) return;
    const next = this.#waitingForAll.shift();
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
