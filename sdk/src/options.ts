/** What callers may set: for a client, and for a single call. */
import type { ActivityDeclarations } from './activity-types.js';
import type { LargeIntegers } from './exact-json.js';

/** When and how often a call that failed is made again. */
export interface RetryOptions {
  /**
   * How many times a failed call is made again. Whatever the limit, a call never takes longer than its `timeoutMs`.
   *
   * @default Infinity: as often as `timeoutMs` allows, so that calls outlast a restart of the server
   */
  readonly limit?: number;
  /**
   * The pause before the first repetition; each further one doubles it. Half of every pause is random, so that clients
   * that failed together do not come back together. A `Retry-After` of the server takes its place.
   *
   * @default 200
   */
  readonly delayMs?: number;
  /**
   * The longest pause.
   *
   * @default 5000
   */
  readonly delayMsMax?: number;
  /**
   * How long one attempt may take before it counts as failed. A long poll gets its waiting time on top.
   *
   * @default 10000
   */
  readonly attemptTimeoutMs?: number;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * How long the call may take in all, repetitions and pauses included, before it rejects with a `TimeoutError`.
   *
   * @default the client's `timeoutMs`
   */
  readonly timeoutMs?: number;
  /** Replaces the client's `retry` for this call; `false` makes one attempt and no more. */
  readonly retry?: RetryOptions | false;
}

/** How workflows are terminated. */
export interface TerminateOptions extends CallOptions {
  /**
   * First compensates what the workflow has done: the `CompensateWith` of its completed steps and open sagas runs, the newest
   * first. The answer comes at once; wait for the end, and let `explain` tell how far it is.
   *
   * @default false
   */
  readonly compensate?: boolean;
}

/** What calls take that the server carries out once, however often they arrive. */
export interface IdempotentCallOptions extends CallOptions {
  /**
   * Names this call: sent again with the same key, it is answered as the first time and does nothing. Give one of your
   * own (an order number, a message id) where your program may make the same call again after a crash.
   *
   * @default a random key, so that the repetitions of this call are safe
   */
  readonly idempotencyKey?: string;
}

/** A bearer token, or a function that gives a valid one; it is asked before every attempt. */
export type TokenSource = string | (() => string | Promise<string>);

/** What `createClient` takes. */
export interface ClientOptions<D extends ActivityDeclarations = ActivityDeclarations> {
  /** Where the server is, such as `http://127.0.0.1:5001`; a path in front of `/api` is kept. */
  readonly baseUrl: string | URL;
  /** Where the server asks for authentication. */
  readonly token?: TokenSource;
  /**
   * How long a call may take in all.
   *
   * @default 30000
   */
  readonly timeoutMs?: number;
  /**
   * When calls are made again. Only calls that are safe to repeat are; those that are not are repeated only when the
   * server has certainly not carried them out. `false` turns it off.
   */
  readonly retry?: RetryOptions | false;
  /**
   * Used in place of the global `fetch`, for instance to count or trace calls.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: (request: Request, init?: RequestInit) => Promise<Response>;
  /**
   * What integers beyond ±(2^53 - 1) in data, events and results become. A `number` of that size is rounded; a `bigint`
   * has all digits. Smaller integers are numbers in any case, and bigints can be sent in any case.
   *
   * With `'bigint'`, numbers beyond 2^53 are sent as floats.
   *
   * @default 'number'
   */
  readonly integers?: LargeIntegers;
  /** The activities that were declared with `defineActivities`, to type `client.activities`. */
  readonly activities?: D;
}
