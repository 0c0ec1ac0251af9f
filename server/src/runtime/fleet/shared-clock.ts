/**
 * The clock of nodes that share a database: they go by its time, so that they agree on what is due, dead or older although
 * the clocks of their machines do not.
 *
 * Between two readings it counts by itself, so that a machine's clock that jumps changes nothing. A reading says between
 * which two times it is; only a clock outside of them is corrected, and only as far as to them. So nodes are apart by no more
 * than the quickest answer of the database took. Whoever starts a workflow on one node and then publishes its event on
 * another had to wait for longer than that, and the event is never older than the workflow.
 */
import type { Logger } from '../../base/logger.js';
import { clockOf, type Clock } from '../../base/clock.js';

/** A correction backwards by less than this is waited out: time that goes back surprises everybody. */
const WAITED_OUT_MS = 2000;
/** From here on a machine's clock is wrong, which also shows in its logs: somebody should know. */
const WRONG_MS = 2000;

export interface TimeSources {
  /** Milliseconds since 1970, as the machine has it. */
  readonly wall: () => number;
  /** Milliseconds since whenever; never goes back and never jumps. */
  readonly steady: () => number;
}

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

  /** A reading of the database's time, in milliseconds since 1970, that has just arrived and took so long. */
  adjust(time: number, roundTripMs: number): void {
    // It was read at some moment of the round trip, in whole milliseconds.
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
