/**
 * What one client address may take of a node: wrong guesses of work tokens in a minute, and calls that wait.
 *
 * Owns the counts of one application. Must not know: HTTP, who the caller is, the clock of the machine.
 *
 *  N1 Both tables are bounded: whoever has an endless supply of addresses fills no memory.
 */
import { AppError } from '../errors.js';

const WINDOW_MS = 60_000;
/** More addresses at once than this are not told apart: the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

export interface GuessLimitOptions {
  readonly wrongPerMinuteMax: number;
  readonly now: () => number;
}

/** Counts wrong tokens. An address over the limit may not even try a right one until its minute is over. */
export class GuessLimit {
  readonly #options: GuessLimitOptions;
  readonly #windows = new Map<string, { readonly endsAt: number; wrong: number }>();

  constructor(options: GuessLimitOptions) {
    this.#options = options;
  }

  /** Does the call, unless too many before it were wrong. @throws AppError `too_many_requests` */
  async guard<Result>(address: string, call: () => Promise<Result>): Promise<Result> {
    this.#assertMayTry(address);
    try {
      return await call();
    } catch (error) {
      if (error instanceof AppError && error.code === 'activity_not_found') this.#count(address);
      throw error;
    }
  }

  #assertMayTry(address: string): void {
    const window = this.#windows.get(address);
    if (window === undefined) return;
    const { now, wrongPerMinuteMax } = this.#options;
    const leftMs = window.endsAt - now();
    if (leftMs <= 0) this.#windows.delete(address);
    else if (window.wrong >= wrongPerMinuteMax) {
      throw new AppError('too_many_requests', 'Too many wrong tokens came from this address', {
        retryAfterSeconds: leftMs / 1000,
      });
    }
  }

  #count(address: string): void {
    const window = this.#windows.get(address) ?? {
      endsAt: this.#options.now() + WINDOW_MS,
      wrong: 0,
    };
    window.wrong += 1;
    this.#windows.set(address, window);
    if (this.#windows.size <= ADDRESSES_MAX) return;
    for (const oldest of this.#windows.keys()) {
      this.#windows.delete(oldest);
      return;
    }
  }
}

/** Counts the calls that wait, so that one client cannot take every place. */
export class WaitingLimit {
  readonly #max: number;
  readonly #waiting = new Map<string, number>();

  constructor(waitingMax: number) {
    this.#max = waitingMax;
  }

  /** Waits for the call in the address's share. @throws AppError `too_many_requests` */
  async guard<Result>(address: string, call: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(address) ?? 0;
    if (waiting >= this.#max) {
      throw new AppError(
        'too_many_requests',
        'Too many calls of this address wait on this server',
        {
          retryAfterSeconds: 1,
        },
      );
    }
    this.#waiting.set(address, waiting + 1);
    try {
      return await call();
    } finally {
      const left = (this.#waiting.get(address) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(address);
      else this.#waiting.set(address, left);
    }
  }
}
