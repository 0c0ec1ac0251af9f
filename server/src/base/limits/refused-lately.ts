/** What lately got no slots: activities by their names, and keys of limits. A commit that asks again would probably be refused, too. */
import type { Clock } from '../clock.js';

/** For so long, new items are offered without slots, and steps wait for theirs: they get them when they are claimed, or granted. */
const REFUSED_MS = 1000;
const COUNT_MAX = 1000;

export class RefusedLately {
  readonly #clock: Clock;
  /** Until when. */
  readonly #refused = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(id: string): void {
    if (this.#refused.size >= COUNT_MAX) this.#refused.clear();
    this.#refused.set(id, this.#clock.now() + REFUSED_MS);
  }

  has(id: string): boolean {
    const until = this.#refused.get(id);
    if (until === undefined) return false;
    if (this.#clock.now() < until) return true;
    this.#refused.delete(id);
    return false;
  }
}
