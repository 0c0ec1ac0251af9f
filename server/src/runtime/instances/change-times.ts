/**
 * The times at which this node changes instances.
 *
 *  R14 No change is earlier than the time up to which a heartbeat has reported the follow-up work as complete
 *      (`followedUntil`): after a node's death, others check only later changes, and its clock may have been set back in
 *      between.
 */
import type { Clock } from '../../base/clock.js';

export class ChangeTimes {
  readonly #clock: Pick<Clock, 'now'>;
  /** The time in the newest heartbeat, and the latest time that may be in the store. */
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

  /** Called before a heartbeat with this time is written. */
  reporting(followedUntil: number): void {
    this.#newest = followedUntil;
    this.#latest = Math.max(this.#latest, followedUntil);
  }

  /**
   * Called after a heartbeat. If it was written, it has replaced the earlier ones, so a clock that was set back applies again.
   */
  reported(isWritten: boolean): void {
    if (!isWritten) this.#isUncertain = true;
    if (!this.#isUncertain) this.#latest = this.#newest;
  }
}
