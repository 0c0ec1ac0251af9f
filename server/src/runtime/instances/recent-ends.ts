/**
 * The runs that have just ended on this node. Most callers wait for the end of a run right after they have started it or sent
 * it a message, so the end is often known without reading the store.
 *
 * Clients may still change the tags of an ended run: this node then drops its end. A change on another node is not noticed, so
 * the ends are used only while this node is alone on the store. An ended run is removed after its retention period at the
 * earliest, which is at least a minute.
 */
import { weigh } from '../../engine/values/json-parts.js';
import type { Clock } from '../../base/clock.js';
import type { InstanceView } from '../model/instance-types.js';

/**
 * Maximum number of runs, and the maximum size of data and last error of each, as `weigh` counts it (100 kB of text, for
 * example).
 */
const COUNT_MAX = 32;
const WEIGHT_MAX = 1600;
const KEPT_MS = 30_000;

interface RecentEnd {
  readonly view: InstanceView;
  readonly until: number;
}

export class RecentEnds {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #ends = new Map<string, RecentEnd>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(id: string): InstanceView | null {
    const end = this.#ends.get(id);
    if (end === undefined) return null;
    if (end.until >= this.#clock.now()) return end.view;
    this.#ends.delete(id);
    return null;
  }

  /** Called when the run has changed: the store must be read. */
  forget(id: string): void {
    this.#ends.delete(id);
  }

  /** Called when the run has ended, or its list entry has changed since. Returns false if it is too large to be kept. */
  add(view: InstanceView): boolean {
    this.#ends.delete(view.id);
    const now = this.#clock.now();
    this.#removeExpired(now);
    if (weigh([view.data, view.lastError], WEIGHT_MAX) > WEIGHT_MAX) return false;
    this.#ends.set(view.id, { view, until: now + KEPT_MS });
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > COUNT_MAX && oldest !== undefined) this.#ends.delete(oldest);
    return true;
  }

  #removeExpired(now: number): void {
    for (const [id, { until }] of this.#ends) {
      if (until >= now) return;
      this.#ends.delete(id);
    }
  }
}
