/**
 * Limits concurrent reads of whole instances and events for display, by the memory that they take.
 *
 * The length of a stored value is known only after it was read. So each read first counts like the longest recent one of
 * its caller, and is corrected then. What a request is shown is charged to its caller before the read, and until it has
 * been answered.
 */
import { AppError } from '../../base/errors.js';
import { currentCaller, type Caller } from '../../base/limits/current-caller.js';
import { QueueFullError, WeightedQueue, type Permit } from '../../base/limits/weighted-queue.js';
import { CanceledError } from '../../base/slices.js';
import { isLight } from '../../engine/values/json-parts.js';

/** Maximum number of waiting callers; more are told to try again later. */
const WAITING_MAX = 2000;
const CALLER_SHARE = 1 / 2;
/** Until it has read something, each read of a caller counts as this share of the limit. */
const UNKNOWN_SHARE = 1 / 8;
/** The decay of the expected cost with each read that costs less. */
const FORGET = 0.9;
/** Callers whose reads are remembered; of more, the oldest are forgotten. */
const CALLERS_MAX = 1000;
/** The value, and the answer that is made of it. */
const ANSWERED_COST = 2;
/** Who is charged for what the server does itself. */
const SERVER = 'server';

export class ReadingGate {
  readonly #queue: WeightedQueue;
  readonly #weightMin: number;
  readonly #expected = new Map<string, number>();

  constructor(bytesMax: number, readsMax: number) {
    this.#queue = new WeightedQueue({
      limit: bytesMax,
      limitPerCaller: bytesMax * CALLER_SHARE,
      waitingMax: WAITING_MAX,
      waitingPerCallerMax: WAITING_MAX * CALLER_SHARE,
    });
    this.#weightMin = bytesMax / readsMax;
  }

  /** @throws AppError `too_many_requests`, `overloaded`; CanceledError if the caller has gone */
  async read<Found, View>(
    find: () => Promise<Found>,
    costOf: (found: Found) => number,
    view: (found: Found) => View | Promise<View>,
  ): Promise<View> {
    const caller = currentCaller();
    const key = caller?.key ?? SERVER;
    const expected = this.#expected.get(key) ?? this.#queue.limit * UNKNOWN_SHARE;
    const release = caller?.memory.hold();
    const answer = await caller?.memory
      .reserve('reads', expected * ANSWERED_COST)
      .catch((error: unknown) => {
        release?.();
        throw error;
      });
    let reading: Permit | undefined;
    try {
      reading = await this.#enter(caller, Math.max(expected, this.#weightMin));
      const found = await find();
      const cost = costOf(found);
      this.#learn(key, cost);
      reading.resize(Math.max(cost, this.#weightMin));
      answer?.resize(cost * ANSWERED_COST);
      const shown = await view(found);
      if (isLight(shown)) answer?.release();
      return shown;
    } catch (error) {
      answer?.release();
      throw error;
    } finally {
      reading?.release();
      release?.();
    }
  }

  async #enter(caller: Caller | null, weight: number): Promise<Permit> {
    const key = caller?.key ?? SERVER;
    const permit = this.#queue.tryEnter(key, weight);
    if (permit !== null) return permit;
    try {
      return await this.#queue.enter(key, weight, caller?.gone);
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw new CanceledError();
      const code = error.shortage === 'share' ? 'too_many_requests' : 'overloaded';
      throw new AppError(code, 'Too many calls are waiting to read runs', {
        retryAfterSeconds: 1,
      });
    }
  }

  #learn(key: string, cost: number): void {
    const before = this.#expected.get(key) ?? 0;
    this.#expected.delete(key);
    this.#expected.set(key, Math.max(cost, Math.floor(before * FORGET)));
    if (this.#expected.size <= CALLERS_MAX) return;
    for (const oldest of this.#expected.keys()) {
      this.#expected.delete(oldest);
      return;
    }
  }
}
