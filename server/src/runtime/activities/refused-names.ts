/** Activities whose new items lately got no slots: a commit that asks for them again would probably be refused, too. */
import type { Clock } from '../../base/clock.js';

/** For so long, new items are offered without slots, and take them when they are claimed. */
const REFUSED_MS = 1000;
const NAMES_MAX = 1000;

export class RefusedNames {
  readonly #clock: Clock;
  /** By name, until when. */
  readonly #refused = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(name: string): void {
    if (this.#refused.size >= NAMES_MAX) this.#refused.clear();
    this.#refused.set(name, this.#clock.now() + REFUSED_MS);
  }

  has(name: string): boolean {
    const until = this.#refused.get(name);
    if (until === undefined) return false;
    if (this.#clock.now() < until) return true;
    this.#refused.delete(name);
    return false;
  }
}
