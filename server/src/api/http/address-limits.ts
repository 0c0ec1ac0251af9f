/**
 * What one client address may take of a node: wrong tokens in a minute, of either kind, and calls that wait.
 *
 * Owns the counts of one application. Must not know: HTTP, who the caller is, the clock of the machine.
 *
 *  AL1 All tables are bounded: whoever has an endless supply of addresses fills no memory.
 */
import { AppError } from '../../base/errors.js';

const WINDOW_MS = 60_000;
/** More addresses at once than this are not told apart: the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

export interface FailureLimitOptions {
  readonly perMinuteMax: number;
  readonly now: () => number;
}

/** Failures of each address in its current minute. */
class FailureWindows {
  readonly #options: FailureLimitOptions;
  readonly #windows = new Map<string, { readonly endsAt: number; failures: number }>();

  constructor(options: FailureLimitOptions) {
    this.#options = options;
  }

  /** @throws AppError `too_many_requests` when the address has failed as often as it may */
  assertBelow(address: string, message: string): void {
    const window = this.#windows.get(address);
    if (window === undefined) return;
    const { now, perMinuteMax } = this.#options;
    const leftMs = window.endsAt - now();
    if (leftMs <= 0) this.#windows.delete(address);
    else if (window.failures >= perMinuteMax) {
      throw new AppError('too_many_requests', message, { retryAfterSeconds: leftMs / 1000 });
    }
  }

  count(address: string): void {
    const window = this.#windows.get(address) ?? {
      endsAt: this.#options.now() + WINDOW_MS,
      failures: 0,
    };
    window.failures += 1;
    this.#windows.set(address, window);
    if (this.#windows.size <= ADDRESSES_MAX) return;
    for (const oldest of this.#windows.keys()) {
      this.#windows.delete(oldest);
      return;
    }
  }
}

/** Counts wrong work tokens. An address over the limit may not even try a right one until its minute is over. */
export class GuessLimit {
  readonly #windows: FailureWindows;

  constructor(options: FailureLimitOptions) {
    this.#windows = new FailureWindows(options);
  }

  /** Does the call, unless too many before it were wrong. @throws AppError `too_many_requests` */
  async guard<Result>(address: string, call: () => Promise<Result>): Promise<Result> {
    this.#windows.assertBelow(address, 'Too many invalid work tokens from this address');
    try {
      return await call();
    } catch (error) {
      if (error instanceof AppError && error.code === 'activity_not_found') {
        this.#windows.count(address);
      }
      throw error;
    }
  }
}

/**
 * Counts bearer tokens that were not believed. Only they are refused beyond the limit: whoever has a valid one is let in,
 * whatever others behind the same proxy send, because a signature cannot be guessed.
 */
export class RefusalLimit {
  readonly #windows: FailureWindows;

  constructor(options: FailureLimitOptions) {
    this.#windows = new FailureWindows(options);
  }

  /** Notes a refusal. @throws AppError `too_many_requests` instead of the refusal, when there were too many before it */
  count(address: string): void {
    this.#windows.assertBelow(address, 'Too many invalid bearer tokens from this address');
    this.#windows.count(address);
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
        'Too many calls from this address are waiting on this server',
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
