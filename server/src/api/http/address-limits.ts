/**
 * Limits per client address on a node: invalid tokens of either kind per minute, and waiting calls.
 *
 * Owns the counts of one application. Must not know: HTTP, the caller's identity, the machine's clock.
 *
 *  AL1 All tables are bounded, so a client with an unlimited supply of addresses can't exhaust memory.
 */
import { AppError } from '../../base/errors.js';

const WINDOW_MS = 60_000;
/** The maximum number of tracked addresses. When it is exceeded, the oldest is dropped. */
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

  /** @throws AppError `too_many_requests` if the address has reached its maximum number of failures */
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

/** Counts invalid work tokens. An address over the limit can't use even a valid one until its minute is over. */
export class WorkTokenFailureLimit {
  readonly #windows: FailureWindows;

  constructor(options: FailureLimitOptions) {
    this.#windows = new FailureWindows(options);
  }

  /** Makes the call, unless too many earlier ones failed. @throws AppError `too_many_requests` */
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
 * Counts rejected bearer tokens. Over the limit, only invalid tokens are rejected. A caller with a valid token is admitted
 * regardless of other clients behind the same proxy, because signatures can't be guessed.
 */
export class BearerTokenFailureLimit {
  readonly #windows: FailureWindows;

  constructor(options: FailureLimitOptions) {
    this.#windows = new FailureWindows(options);
  }

  /** Counts a rejection. @throws AppError `too_many_requests` instead if there were already too many */
  count(address: string): void {
    this.#windows.assertBelow(address, 'Too many invalid bearer tokens from this address');
    this.#windows.count(address);
  }
}

/** How long an address is remembered as a known sender. */
const SENDER_MS = 24 * 60 * 60_000;
/**
 * The limit for known senders, as a multiple of the normal one, because a third party may be able to trigger their invalid calls.
 */
const SENDER_FACTOR = 10;

/**
 * Counts webhook calls with wrong signatures. Over the limit, bodies from an address aren't even read, unless it has sent a valid
 * signature in the last day: a sender's users share its addresses, and one must not block the calls of the others.
 */
export class SignatureLimit {
  readonly #others: FailureWindows;
  readonly #senders: FailureWindows;
  readonly #now: () => number;
  /** When each address last sent a valid signature, the oldest first. */
  readonly #signedAt = new Map<string, number>();

  constructor({ now, perMinuteMax }: FailureLimitOptions) {
    this.#now = now;
    this.#others = new FailureWindows({ now, perMinuteMax });
    this.#senders = new FailureWindows({ now, perMinuteMax: perMinuteMax * SENDER_FACTOR });
  }

  /** Before the body is read. @throws AppError `too_many_requests` */
  assertMayTry(address: string): void {
    const windows = this.#isSender(address) ? this.#senders : this.#others;
    windows.assertBelow(address, 'Too many invalid signatures from this address');
  }

  countWrong(address: string): void {
    this.#others.count(address);
    this.#senders.count(address);
  }

  noteRight(address: string): void {
    this.#signedAt.delete(address);
    this.#signedAt.set(address, this.#now());
    if (this.#signedAt.size <= ADDRESSES_MAX) return;
    for (const oldest of this.#signedAt.keys()) {
      this.#signedAt.delete(oldest);
      return;
    }
  }

  #isSender(address: string): boolean {
    const signedAt = this.#signedAt.get(address);
    return signedAt !== undefined && this.#now() - signedAt < SENDER_MS;
  }
}

/** Counts waiting calls, so that a single client can't use up the whole limit. */
export class WaitingLimit {
  readonly #max: number;
  readonly #waiting = new Map<string, number>();

  constructor(waitingMax: number) {
    this.#max = waitingMax;
  }

  /** Makes the call if the address is within its share. @throws AppError `too_many_requests` */
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
