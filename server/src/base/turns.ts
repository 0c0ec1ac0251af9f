/**
 * A fixed number of turns. Roots take them one after the other, so that a workflow with a thousand descendants delays others
 * as little as one without; within a root they are given in the order in which they were asked for.
 *
 * One instance may also have them all: nobody else is at work then until it gives them back.
 */
import { Queue } from './queue.js';

export class Turns {
  readonly #count: number;
  #free: number;
  readonly #waiting = new WaitingByRoot();
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
  async take(instanceId: string, rootId: string): Promise<() => void> {
    if (instanceId === this.#alone) return () => undefined;
    if (this.#free > 0 && this.#waitingAlone.length === 0) this.#free -= 1;
    else {
      await new Promise<void>((resolve) => {
        this.#waiting.push(rootId, resolve);
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

interface Root {
  readonly id: string;
  readonly waiting: Queue<() => void>;
}

/** Who waits for a turn. Adding and taking cost the same however many wait. */
class WaitingByRoot {
  readonly #byId = new Map<string, Root>();
  /** Those with somebody waiting; whose turn is next comes first. */
  readonly #roots = new Queue<Root>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(rootId: string, resolve: () => void): void {
    let root = this.#byId.get(rootId);
    if (root === undefined) {
      root = { id: rootId, waiting: new Queue() };
      this.#byId.set(rootId, root);
      this.#roots.push(root);
    }
    root.waiting.push(resolve);
    this.#length += 1;
  }

  shift(): (() => void) | undefined {
    const root = this.#roots.shift();
    const next = root?.waiting.shift();
    if (root === undefined || next === undefined) return undefined;
    this.#length -= 1;
    if (root.waiting.isEmpty) this.#byId.delete(root.id);
    else this.#roots.push(root);
    return next;
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
