/**
 * The clock of nodes that share a database: they go by its time, so that they agree on what is due, dead or older although
 * the clocks of their machines do not.
 *
 * Between two readings it counts by itself, so that a machine's clock that jumps changes nothing.
 */
import type { Logger } from '../logger.js';
import { clockOf, type Clock } from './clock.js';

/** Differences up to this are not corrected: a clock that is set again and again has worse faults than being a bit off. */
const TOLERANCE_MS = 500;
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
  #hasWarned = false;

  constructor(logger: Logger, sources: TimeSources = MACHINE) {
    this.#logger = logger;
    this.#sources = sources;
    this.#offsetMs = sources.wall() - sources.steady();
  }

  now(): number {
    return Math.floor(this.#sources.steady() + this.#offsetMs);
  }

  at(time: number, callback: () => void): () => void {
    return this.#clock.at(time, callback);
  }

  /** A reading of the database's time, in milliseconds since 1970, that has just arrived and took so long. */
  adjust(time: number, roundTripMs: number): void {
    // It was read at some moment of the round trip.
    const uncertaintyMs = roundTripMs / 2;
    const differenceMs = time + uncertaintyMs - this.now();
    if (Math.abs(differenceMs) > TOLERANCE_MS + uncertaintyMs) this.#offsetMs += differenceMs;
    this.#warn(Math.round(this.#sources.wall() - this.now()));
  }

  #warn(aheadMs: number): void {
    const isWrong = Math.abs(aheadMs) > WRONG_MS;
    if (isWrong && !this.#hasWarned) {
      this.#logger.warn(
        { aheadMs },
        "this machine's clock is not the database's; workflows go by the database's",
      );
    }
    this.#hasWarned = isWrong;
  }
}
