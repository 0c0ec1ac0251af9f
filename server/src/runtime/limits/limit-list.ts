/**
 * The limits as this node knows them.
 *
 *  LL1 While other nodes share the store, a limit is known for less than a second from the start of its read, so that a change
 *      counts on all nodes within a second. Hints make that earlier. Alone, a node makes all changes itself.
 *  LL2 A limit that doesn't exist is read again each time: a step must not fail because of a limit that was just added.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.js';
import type { Store } from '../../store/store.js';
import { readLimit } from './limit-codec.js';
import type { Limit } from './limit-types.js';

const KNOWN_MS = 900;
const KNOWN_MAX = 1000;
/** Number of limits per read. */
const NAMES_AT_ONCE = 500;

export interface LimitListOptions {
  readonly store: Pick<Store, 'getResource' | 'listResources'>;
  readonly clock: Clock;
  /** True while other nodes share the store. */
  readonly isShared: () => boolean;
}

interface Known {
  readonly limit: Limit;
  readonly readAt: number;
}

export class LimitList {
  readonly #options: LimitListOptions;
  readonly #known = new LRUCache<string, Known>({ max: KNOWN_MAX });
  readonly #reading = new Map<string, Promise<Limit | null>>();

  constructor(options: LimitListOptions) {
    this.#options = options;
  }

  /** Usually without the store. @throws StoreUnavailableError */
  async get(name: string): Promise<Limit | null> {
    const known = this.#known.get(name);
    if (known !== undefined && this.#isFresh(known)) return known.limit;
    return this.#reading.get(name) ?? this.#read(name);
  }

  /** The names of all limits, in ascending order. At most `max`. */
  async names(max: number): Promise<readonly string[]> {
    const names: string[] = [];
    for (let after: string | null = null; names.length < max; after = names.at(-1) ?? null) {
      const part = await this.#options.store.listResources('limit', after, NAMES_AT_ONCE);
      names.push(...part.map(({ name }) => name));
      if (part.length < NAMES_AT_ONCE) break;
    }
    return names.slice(0, max);
  }

  /** Called when a limit was changed, here or on another node. */
  forget(name: string): void {
    this.#known.delete(name);
    this.#reading.delete(name);
  }

  #read(name: string): Promise<Limit | null> {
    const readAt = this.#options.clock.now();
    const found = this.#options.store.getResource('limit', name);
    const reading = found.then((record) => (record === null ? null : readLimit(record)));
    this.#reading.set(name, reading);
    reading.then(
      (limit) => this.#ended(name, reading, limit === null ? null : { limit, readAt }),
      () => this.#ended(name, reading, null),
    );
    return reading;
  }

  /** A read that began before the limit was forgotten may have an old one. */
  #ended(name: string, reading: Promise<Limit | null>, known: Known | null): void {
    if (this.#reading.get(name) !== reading) return;
    this.#reading.delete(name);
    if (known !== null) this.#known.set(name, known);
  }

  #isFresh({ readAt }: Known): boolean {
    const { clock, isShared } = this.#options;
    if (!isShared()) return true;
    // The clock may be set back.
    const age = clock.now() - readAt;
    return age >= 0 && age < KNOWN_MS;
  }
}
