/**
 * Which thread validates with which schema.
 *
 *  VL1 A schema that takes long to compile, or data that takes long to validate, delays others for a short time only: after
 *      that, the schema moves to a slower lane, where it delays only its like.
 *  VL2 Compiling has a limit of its own, so a schema that was accepted when it was posted can also be used.
 *  VL3 A schema is slow for a while only: the machine may have been busy.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '../base/errors.js';
import { ValidationThread } from './validation-thread.js';
import type { TimeLimits, ValidationAnswer } from './validation/protocol.js';

export interface ValidationLimits {
  /** Maximum time to check a posted schema, including its compilation. */
  readonly checkingMs: number;
  readonly quick: TimeLimits;
  /** For schemas that take long to compile. */
  readonly large: TimeLimits;
  /** For schemas, or data, that take long to validate. */
  readonly slow: TimeLimits;
  /** The threads limit themselves; this is for work that they cannot interrupt, including their start. */
  readonly stuckMs: number;
}

/** On a busy machine, compiling takes longer than it did when the schema was posted. */
const COMPILATION_MS_MAX = 5000;

const LIMITS: ValidationLimits = {
  checkingMs: 2000,
  quick: { compilationMs: 100, validationMs: 100 },
  large: { compilationMs: COMPILATION_MS_MAX, validationMs: 100 },
  slow: { compilationMs: COMPILATION_MS_MAX, validationMs: 1000 },
  stuckMs: 15_000,
};

/** Data that is longer (in characters) is not expected to be validated quickly. */
const QUICK_LENGTH_MAX = 256 * 1024;
/** Schemas that are remembered as large or slow. */
const REMEMBERED_MAX = 100;
const REMEMBERED_MS = 10 * 60 * 1000;
/** Waiting in a lane; more are rejected. */
const WAITING_MAX = { quick: Infinity, large: 1000, slow: 100 } as const;

type Lane = 'quick' | 'large' | 'slow';

export class ValidationPool {
  readonly limits: ValidationLimits;
  readonly #threads: Readonly<Record<Lane, ValidationThread>>;
  /** Only schemas that are not quick. */
  readonly #lanes = new LRUCache<string, Lane>({
    max: REMEMBERED_MAX,
    ttl: REMEMBERED_MS,
    // Reads the clock each time, not only when a timer allows it: a busy process runs its timers late.
    ttlResolution: 0,
  });

  constructor(limits: Partial<ValidationLimits>) {
    this.limits = { ...LIMITS, ...limits };
    const { stuckMs } = this.limits;
    this.#threads = {
      quick: new ValidationThread(stuckMs),
      large: new ValidationThread(stuckMs),
      slow: new ValidationThread(stuckMs),
    };
  }

  /** Checks a posted schema. */
  check(schema: string): Promise<ValidationAnswer> {
    const limitMs = this.limits.checkingMs;
    return this.#threads.slow.ask({ kind: 'check', schema, limitMs });
  }

  /** @throws AppError `overloaded` */
  async validate(schema: string, data: string): Promise<ValidationAnswer> {
    if (data.length <= QUICK_LENGTH_MAX) {
      for (const lane of ['quick', 'large'] as const) {
        const isRight = (): boolean => this.#laneOf(schema) === lane;
        if (!isRight()) continue;
        const answer = await this.#ask(lane, schema, data, isRight);
        if (answer.kind !== 'out-of-time') return answer;
        if (isRight()) this.#lanes.set(schema, slowerLane(lane, answer.during));
      }
    }
    return this.#ask('slow', schema, data);
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#threads).map((thread) => thread.stop()));
  }

  #laneOf(schema: string): Lane {
    return this.#lanes.get(schema) ?? 'quick';
  }

  #ask(
    lane: Lane,
    schema: string,
    data: string,
    isWanted?: () => boolean,
  ): Promise<ValidationAnswer> {
    const thread = this.#threads[lane];
    if (thread.load > WAITING_MAX[lane]) {
      throw new AppError('overloaded', 'Too many starts wait until their data is checked', {
        retryAfterSeconds: 1,
      });
    }
    const limits = this.limits[lane];
    return thread.ask({ kind: 'validate', schema, data, limits }, isWanted);
  }
}

function slowerLane(lane: Lane, during: 'compilation' | 'validation'): Lane {
  return lane === 'quick' && during === 'compilation' ? 'large' : 'slow';
}
