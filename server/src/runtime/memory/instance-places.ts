/**
 * Limits the number of instances that a node has in memory: each takes one place.
 *
 * When all places are taken, a parked instance is evicted. If none is parked, the first descendants of each root are
 * admitted anyway: a workflow with thousands of descendants only blocks its own. Instances that a client starts (their root
 * is null) are also admitted.
 */
import { RootCounts } from '../instance-state/descendants.js';

/** This many descendants of one root always get a place. */
const ROOT_SHARE = 64;

export interface InstancePlacesOptions {
  readonly countMax: number;
  /** Parked instances beyond this number are evicted. The limit may be lower than the number of places. */
  readonly parkedMax: number;
  /** Evicts a parked instance, which gives its place back; returns false if none is parked. */
  readonly evictOne: () => boolean;
}

interface Waiting {
  readonly rootId: string | null;
  readonly answer: (hasPlace: boolean) => void;
}

export class InstancePlaces {
  readonly #options: InstancePlacesOptions;
  readonly #rootShare: number;
  readonly #roots = new RootCounts();
  readonly #waiting = new Set<Waiting>();
  #taken = 0;
  #isClosed = false;

  constructor(options: InstancePlacesOptions) {
    this.#options = options;
    this.#rootShare = Math.min(ROOT_SHARE, options.countMax);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** For an instance that enters regardless of the limit. */
  take(rootId: string | null): void {
    this.#taken += 1;
    if (rootId !== null) this.#roots.add(rootId);
  }

  /** Returns false if there is no place now, or others are waiting for one. */
  tryTake(rootId: string | null): boolean {
    const hasPlace = this.#waiting.size === 0 && (this.hasFree || this.#options.evictOne());
    if (!hasPlace && !this.#isExempt(rootId)) return false;
    this.take(rootId);
    return true;
  }

  #isExempt(rootId: string | null): boolean {
    return rootId === null || this.#roots.of(rootId) < this.#rootShare;
  }

  /** Like `tryTake`, but queues for a place. Returns false if the node is stopping. */
  enter(rootId: string | null): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    if (this.tryTake(rootId)) return Promise.resolve(true);
    return new Promise((answer) => {
      this.#waiting.add({ rootId, answer });
    });
  }

  leave(rootId: string | null): void {
    this.#taken -= 1;
    if (rootId !== null) this.#roots.remove(rootId);
    for (const waiting of this.#waiting) {
      if (!this.hasFree) return;
      this.#waiting.delete(waiting);
      this.take(waiting.rootId);
      waiting.answer(true);
    }
  }

  /** An instance was parked: it is evicted when its place is needed. */
  parked(): void {
    while (this.#isWanted && this.#options.evictOne());
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    for (const { answer } of this.#waiting) answer(false);
    this.#waiting.clear();
  }

  get hasFree(): boolean {
    return this.#taken < this.#options.countMax;
  }

  get #isWanted(): boolean {
    return this.#waiting.size > 0 || this.#taken > this.#options.parkedMax;
  }
}
