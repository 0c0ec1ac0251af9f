/**
 * The times at which this node changes instances.
 *
 *  R14 No change is before a time up to which a heartbeat reports the follow-up work as complete (`followedUntil`): after the
 *      death of a node, others only check what changed later, and its clock may have been set back in between.
 */
import type { Clock } from '../../base/clock.js';

export class ChangeTimes {
  readonly #clock: Pick<Clock, 'now'>;
  /** What the newest heartbeat reports, and the latest of all that may be in the store. */
  #newest = -Infinity;
  #latest = -Infinity;
  /** A heartbeat without a response may still arrive. */
  #isUncertain = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  now(): number {
    return Math.max(this.#clock.now(), this.#latest);
  }

  /** A heartbeat that reports this time is about to be written. */
  reporting(followedUntil: number): void {
    this.#newest = followedUntil;
    this.#latest = Math.max(this.#latest, followedUntil);
  }

  /** Whether the newest heartbeat has replaced the earlier ones: a clock that was set back applies again. */
  reported(isWritten: boolean): void {
    if (!isWritten) this.#isUncertain = true;
    if (!this.#isUncertain) this.#latest = this.#newest;
  }
}
