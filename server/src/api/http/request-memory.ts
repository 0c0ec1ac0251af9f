/**
 * The memory of requests: bodies from their arrival until the response is sent, and responses until they have been read.
 *
 * A request that does not fit is rejected: with 429 if its address has more than half of the memory, otherwise with 503. A
 * request that could never fit is rejected with 413. So one address can take half of the memory, but not all.
 */
import type { Response } from 'express';
import { AppError } from '../../base/errors.js';
import { MemoryPool, type MemoryShare } from '../../runtime/memory/memory-pool.js';

/** Shorter responses go to the kernel immediately, and are not counted. */
const COUNTED_FROM = 16 * 1024;
/** The text, and its bytes. */
const ANSWER_COST = 2;
/** A client that has read nothing of its response for this long is considered gone. */
const UNREAD_MS = 30_000;
const ADDRESS_SHARE = 1 / 2;

export interface RequestMemoryOptions {
  readonly bodiesMax: number;
  readonly answersMax: number;
  readonly refused: (what: 'request' | 'answer') => void;
}

export interface BodyMemory {
  /** Bytes that the body takes now. @throws AppError `too_many_requests`, `overloaded`, `body_too_large` */
  grow(bytes: number): void;
  release(): void;
}

export class RequestMemory {
  readonly #options: RequestMemoryOptions;
  readonly #bodies: SharedPool;
  readonly #answers: SharedPool;

  constructor(options: RequestMemoryOptions) {
    this.#options = options;
    this.#bodies = new SharedPool(options.bodiesMax);
    this.#answers = new SharedPool(options.answersMax);
  }

  get usage(): Readonly<Record<'bodies' | 'answers', Pick<MemoryPool, 'used' | 'limit'>>> {
    return { bodies: this.#bodies.pool, answers: this.#answers.pool };
  }

  /** The memory of one body, which is released by the end of the response at the latest. */
  body(address: string, response: Response): BodyMemory {
    const share = this.#bodies.share(address);
    const release = (): void => share.resize(0);
    response.once('close', release);
    return {
      release,
      grow: (bytes) => {
        const problem = share.problemOf(bytes);
        if (problem === null) share.resize(bytes);
        else {
          this.#options.refused('request');
          throw refusal(problem, 'request bodies');
        }
      },
    };
  }

  /**
   * Counts a response until it has been read or its connection is closed.
   *
   * @param mayRefuse false if the call has had an effect that the caller must learn of
   * @throws AppError `too_many_requests`, `overloaded`
   */
  answer(address: string, response: Response, length: number, mayRefuse: boolean): void {
    if (length < COUNTED_FROM) return;
    const share = this.#answers.share(address);
    const bytes = length * ANSWER_COST;
    const problem = share.problemOf(bytes);
    // A response that is too large to share the memory is sent alone.
    if (mayRefuse && problem !== null && !(problem === 'never' && this.#answers.pool.used === 0)) {
      this.#options.refused('answer');
      throw refusal(problem === 'never' ? 'all' : problem, 'responses');
    }
    share.resize(bytes);
    response.setTimeout(UNREAD_MS);
    response.once('close', () => share.resize(0));
  }
}

/** What exceeds its limit: the address, all addresses together, or the request by itself. */
type Shortage = 'address' | 'all' | 'never';

function refusal(shortage: Shortage, what: string): AppError {
  const retry = { retryAfterSeconds: 1 };
  if (shortage === 'never') {
    const message = 'The body needs more memory than this server may use for request bodies';
    return new AppError('body_too_large', message);
  }
  if (shortage === 'all') {
    const message = `The ${what} in progress use all the memory that this server may use for them`;
    return new AppError('overloaded', message, retry);
  }
  const message = `The ${what} of this address already use half of the memory that this server may use for ${what}`;
  return new AppError('too_many_requests', message, retry);
}

class SharedPool {
  readonly pool: MemoryPool;
  readonly addressMax: number;
  readonly byAddress = new Map<string, number>();

  constructor(limit: number) {
    this.pool = new MemoryPool(limit);
    this.addressMax = limit * ADDRESS_SHARE;
  }

  share(address: string): AddressShare {
    return new AddressShare(this, address);
  }
}

class AddressShare {
  readonly #of: SharedPool;
  readonly #address: string;
  readonly #share: MemoryShare;

  constructor(of: SharedPool, address: string) {
    this.#of = of;
    this.#address = address;
    this.#share = of.pool.take(0);
  }

  /** Why the address may not take this many bytes; null if it may. */
  problemOf(bytes: number): Shortage | null {
    const { addressMax, byAddress, pool } = this.#of;
    const own = this.#share.bytes;
    const more = bytes - own;
    if (more <= 0) return null;
    if (bytes > pool.limit) return 'never';
    const ofAddress = byAddress.get(this.#address) ?? 0;
    // The only request of its address may take more than half.
    if (ofAddress > own && ofAddress + more > addressMax) return 'address';
    return pool.used + more > pool.limit ? 'all' : null;
  }

  resize(bytes: number): void {
    const { byAddress } = this.#of;
    const ofAddress = (byAddress.get(this.#address) ?? 0) + bytes - this.#share.bytes;
    this.#share.resize(bytes);
    if (ofAddress === 0) byAddress.delete(this.#address);
    else byAddress.set(this.#address, ofAddress);
  }
}
