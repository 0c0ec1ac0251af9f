/**
 * A fixed number of turns, given in the order in which they were asked for.
 *
 * One instance may also have them all: nobody else is at work then until it gives them back.
 */
export class Turns {
  readonly #count: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #waitingAlone: (() => void)[] = [];
  /** Who has all the turns. */
  #alone: string | null = null;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  /** Waits for a turn; the answer gives it back, once. */
  async take(instanceId: string): Promise<() => void> {
    if (instanceId === this.#alone) return () => undefined;
    if (this.#free > 0 && this.#waitingAlone.length === 0) this.#free -= 1;
    else {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    return once(() => {
      this.#free += 1;
      if (this.#waitingAlone.length > 0) this.#startAlone();
      else this.#startWaiting();
    });
  }

  /** Waits until nobody has a turn, and keeps others from getting one; the answer lets them, once. */
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
      // The others come first now: many that want to be alone must not hold them up for long.
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
