/**
 * How many instances a node has in memory: places, one for each.
 *
 * When all are taken, a parked instance makes room. Where none is parked, the first descendants of each root get in all the
 * same: a workflow with thousands of descendants keeps out only those. So does what a client starts (its root is null).
 */
import { RootCounts } from '../instances/descendants.js';

/** So many descendants of one root get a place, however many are taken. */
const ROOT_SHARE = 64;

export interface InstancePlacesOptions {
  readonly countMax: number;
  /** Beyond these, which may be fewer, what is parked is evicted. */
  readonly parkedMax: number;
  /** Evicts a parked instance, which gives its place back; false: none is parked. */
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

  /** For what comes in any case. */
  take(rootId: string | null): void {
    this.#taken += 1;
    if (rootId !== null) this.#roots.add(rootId);
  }

  /** False: there is no place now, or others wait for one. */
  tryTake(rootId: string | null): boolean {
    const hasPlace = this.#waiting.size === 0 && (this.hasFree || this.#options.evictOne());
    if (!hasPlace && !this.#isExempt(rootId)) return false;
    this.take(rootId);
    return true;
  }

  #isExempt(rootId: string | null): boolean {
    return rootId === null || this.#roots.of(rootId) < this.#rootShare;
  }

  /** As `tryTake`, and waits its turn. False: the node stops. */
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

  /** Nobody waits any more. */
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
