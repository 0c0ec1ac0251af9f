/**
 * The clock of nodes that share a database: they follow its time, so that they agree on due timers, dead nodes and the order of
 * events even if their machines' clocks differ.
 *
 * Between two readings, it runs on its own, so that jumps of a machine's clock have no effect. A reading yields a range that
 * contains the database's time. A clock is corrected only if it is outside this range, and only to the nearest end. So nodes
 * differ by no more than the database's fastest response time. A client that starts a workflow on one node and then publishes
 * its event on another has waited longer than that, so the event is never older than the workflow.
 */
import type { Logger } from '../../base/logger.js';
import { clockOf, type Clock } from '../../base/clock.js';

/** For a smaller backward correction, the clock stands still instead of going back. */
const WAITED_OUT_MS = 2000;
/** From this difference on, the machine's clock is reported as wrong, because its logs are also affected. */
const WRONG_MS = 2000;

export interface TimeSources {
  /** Milliseconds since 1970, by the machine's clock. */
  readonly wall: () => number;
  /** Milliseconds since an arbitrary time; never goes back and never jumps. */
  readonly steady: () => number;
}

// This is the Clock of nodes that share a store.
// eslint-disable-next-line no-restricted-properties
const MACHINE: TimeSources = { wall: () => Date.now(), steady: () => performance.now() };

export class SharedClock implements Clock {
  readonly #logger: Logger;
  readonly #sources: TimeSources;
  readonly #clock = clockOf(() => this.now());
  #offsetMs: number;
  #latest = -Infinity;
  #hasWarned = false;

  constructor(logger: Logger, sources: TimeSources = MACHINE) {
    this.#logger = logger;
    this.#sources = sources;
    this.#offsetMs = sources.wall() - sources.steady();
  }

  now(): number {
    const time = this.#exact();
    const aheadMs = this.#latest - time;
    if (aheadMs <= 0 || aheadMs > WAITED_OUT_MS) this.#latest = Math.floor(time);
    return this.#latest;
  }

  at(time: number, callback: () => void): () => void {
    return this.#clock.at(time, callback);
  }

  /** Applies a reading of the database's time (milliseconds since 1970) that has just arrived after `roundTripMs`. */
  adjust(time: number, roundTripMs: number): void {
    // It was read at some time during the round trip, in whole milliseconds.
    const [earliest, latest] = [time, time + roundTripMs + 1];
    const now = this.#exact();
    if (now < earliest) this.#offsetMs += earliest - now;
    else if (now > latest) this.#offsetMs -= now - latest;
    this.#warn(Math.round(this.#sources.wall() - this.#exact()));
  }

  #exact(): number {
    return this.#sources.steady() + this.#offsetMs;
  }

  #warn(aheadMs: number): void {
    const isWrong = Math.abs(aheadMs) > WRONG_MS;
    if (isWrong && !this.#hasWarned) {
      this.#logger.warn(
        { aheadMs },
        "the clock of this machine differs from the database's; the database's clock is used",
      );
    }
    this.#hasWarned = isWrong;
  }
}
