/**
 * The account of memory for answers: what is read for a caller, until the answer has been sent.
 *
 * Each caller has a share. Memory is taken before the work, in one queue for all endpoints; what doesn't fit waits for a
 * while, and is then refused. A request that holds memory already never waits for more, so requests never wait for each
 * other.
 */
import { AppError } from '../errors.js';
import { CanceledError } from '../slices.js';
import { QueueFullError, WeightedQueue, type Permit, type Shortage } from './weighted-queue.js';

/** What the memory is used for: stored values, work items of workers, texts of answers, texts of change streams. */
const MEMORY_KINDS = ['reads', 'work_items', 'texts', 'streams'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** One caller gets at most this much of the memory, unless it needs more for a single request. */
const CALLER_SHARE = 1 / 2;
const WAITING_MAX = 4000;
/** Longer than a burst of large answers takes. */
const WAIT_MS = 10_000;

export interface AnswerMemoryOptions {
  readonly bytesMax: number;
  /** A request was refused for lack of memory. */
  readonly refused: () => void;
}

interface MemoryRequest {
  readonly caller: string;
  readonly kind: MemoryKind;
  readonly bytes: number;
}

export class AnswerMemory {
  readonly #queue: WeightedQueue;
  readonly #refused: () => void;
  readonly #byKind = new Map<MemoryKind, number>(MEMORY_KINDS.map((kind) => [kind, 0]));

  constructor({ bytesMax, refused }: AnswerMemoryOptions) {
    this.#queue = new WeightedQueue({
      limit: bytesMax,
      limitPerCaller: bytesMax * CALLER_SHARE,
      waitingMax: WAITING_MAX,
      waitingPerCallerMax: WAITING_MAX * CALLER_SHARE,
    });
    this.#refused = refused;
  }

  get limit(): number {
    return this.#queue.limit;
  }

  get used(): number {
    return this.#queue.used;
  }

  /** Number of requests that wait for memory. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  get usedByKind(): ReadonlyMap<MemoryKind, number> {
    return this.#byKind;
  }

  /** For what is in memory already. */
  take({ bytes, caller, kind }: MemoryRequest): Permit {
    return this.#counted(kind, this.#queue.take(caller, bytes));
  }

  /** Null: there is no room now. */
  tryEnter({ bytes, caller, kind }: MemoryRequest): Permit | null {
    const permit = this.#queue.tryEnter(caller, bytes);
    return permit === null ? null : this.#counted(kind, permit);
  }

  /**
   * Waits for room until the signal is aborted, however long that is.
   * @throws AppError `too_many_requests`, `overloaded`; CanceledError when the signal is aborted
   */
  async enter(request: MemoryRequest, signal: AbortSignal): Promise<Permit> {
    const { bytes, caller, kind } = request;
    try {
      return this.#counted(kind, await this.#queue.enter(caller, bytes, signal));
    } catch (error) {
      if (error instanceof QueueFullError) throw this.#refusal(error.shortage);
      if (signal.aborted) throw new CanceledError();
      throw error;
    }
  }

  /**
   * Waits for room, but not longer than a caller should.
   * @throws AppError `too_many_requests`, `overloaded`; CanceledError if the caller has gone
   */
  async enterSoon(request: MemoryRequest, gone: AbortSignal): Promise<Permit> {
    const permit = this.tryEnter(request);
    if (permit !== null) return permit;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), WAIT_MS);
    try {
      return await this.enter(request, AbortSignal.any([gone, late.signal]));
    } catch (error) {
      if (!(error instanceof CanceledError) || gone.aborted) throw error;
      throw this.#refusal(this.#queue.shortageOf(request.caller, request.bytes) ?? 'total');
    } finally {
      clearTimeout(timer);
    }
  }

  /** For an answer that can't wait. @throws AppError `too_many_requests`, `overloaded` */
  enterNow(request: MemoryRequest): Permit {
    const shortage = this.#queue.shortageOf(request.caller, request.bytes);
    if (shortage !== null) throw this.#refusal(shortage);
    return this.take(request);
  }

  #refusal(shortage: Shortage): AppError {
    this.#refused();
    return memoryRefusal(shortage, 'responses');
  }

  #counted(kind: MemoryKind, permit: Permit): Permit {
    const count = (more: number): void => {
      this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) + more);
    };
    count(permit.weight);
    return {
      get weight() {
        return permit.weight;
      },
      resize(bytes) {
        const before = permit.weight;
        permit.resize(bytes);
        count(permit.weight - before);
      },
      release() {
        count(-permit.weight);
        permit.release();
      },
    };
  }
}

/** @param what that needs memory, such as `request bodies` */
export function memoryRefusal(shortage: Shortage, what: string): AppError {
  const retry = { retryAfterSeconds: 1 };
  return shortage === 'share'
    ? new AppError(
        'too_many_requests',
        `The ${what} of this caller already use its share of the memory that this server may use for ${what}`,
        retry,
      )
    : new AppError(
        'overloaded',
        `The ${what} in progress use all the memory that this server may use for them`,
        retry,
      );
}
