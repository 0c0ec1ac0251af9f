/**
 * The memory of requests: bodies from their arrival until the response is sent, and what their answers need.
 *
 * A body that does not fit is rejected: with 429 if its caller has more than its share of the memory, otherwise with 503. A
 * body that could never fit is rejected with 413. So one caller can take half of the memory, but not all. Answers wait for
 * memory: see `base/limits/answer-memory.ts`.
 */
import type { Response } from 'express';
import { AppError } from '../../base/errors.js';
import { AnswerMemory, memoryRefusal } from '../../base/limits/answer-memory.js';
import { WeightedQueue } from '../../base/limits/weighted-queue.js';

const CALLER_SHARE = 1 / 2;

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
  readonly answers: AnswerMemory;
  readonly #options: RequestMemoryOptions;
  readonly #bodies: WeightedQueue;

  constructor(options: RequestMemoryOptions) {
    const { answersMax, bodiesMax, refused } = options;
    this.#options = options;
    // A body that has begun to arrive can't wait.
    this.#bodies = new WeightedQueue({
      limit: bodiesMax,
      limitPerCaller: bodiesMax * CALLER_SHARE,
      waitingMax: 0,
      waitingPerCallerMax: 0,
    });
    this.answers = new AnswerMemory({ bytesMax: answersMax, refused: () => refused('answer') });
  }

  get usage(): Readonly<
    Record<'bodies' | 'answers', { readonly used: number; readonly limit: number }>
  > {
    return { bodies: this.#bodies, answers: this.answers };
  }

  /** The memory of one body, which is released by the end of the response at the latest. */
  body(caller: string, response: Response): BodyMemory {
    const body = this.#bodies.take(caller, 0);
    const release = (): void => body.release();
    response.once('close', release);
    return {
      release,
      grow: (bytes) => {
        const more = bytes - body.weight;
        const problem = more <= 0 ? null : this.#problemOf(caller, { bytes, more });
        if (problem === null) body.resize(bytes);
        else {
          this.#options.refused('request');
          throw problem;
        }
      },
    };
  }

  #problemOf(
    caller: string,
    { bytes, more }: { readonly bytes: number; readonly more: number },
  ): AppError | null {
    const { limit, used } = this.#bodies;
    if (bytes > limit) {
      const message = 'The body needs more memory than this server may use for request bodies';
      return new AppError('body_too_large', message);
    }
    const ofCaller = this.#bodies.usedBy(caller);
    // The only body of its caller may take more than the share.
    const isOnly = ofCaller === bytes - more;
    if (!isOnly && ofCaller + more > limit * CALLER_SHARE) {
      return memoryRefusal('share', 'request bodies');
    }
    return used + more > limit ? memoryRefusal('total', 'request bodies') : null;
  }
}
