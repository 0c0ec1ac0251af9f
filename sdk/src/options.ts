/** The options of a client and of a single call. */
import type { ActivityDeclarations } from './activity-types.js';
import type { LargeIntegers } from './exact-json.js';

/** When and how often a failed call is retried. */
export interface RetryOptions {
  /**
   * The maximum number of retries. Regardless of this limit, a call never takes longer than its `timeoutMs`.
   *
   * @default Infinity: retries until `timeoutMs` is over, so that calls survive a restart of the server
   */
  readonly limit?: number;
  /**
   * The delay before the first retry, in milliseconds. It doubles with each further retry. Half of each delay is random, so
   * that clients that failed at the same time do not retry at the same time. A `Retry-After` of the server replaces it.
   *
   * @default 200
   */
  readonly delayMs?: number;
  /**
   * The maximum delay, in milliseconds.
   *
   * @default 5000
   */
  readonly delayMsMax?: number;
  /**
   * The timeout of one attempt, in milliseconds. A long poll gets its waiting time in addition.
   *
   * @default 10000
   */
  readonly attemptTimeoutMs?: number;
}

/** The options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The timeout of the whole call in milliseconds, including retries and delays. After it, the call rejects with a
   * `TimeoutError`.
   *
   * @default the client's `timeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /** Overrides the client's `retry` for this call. `false` turns retries off. */
  readonly retry?: RetryOptions | false | undefined;
}

/** Options for terminating runs. */
export interface TerminateOptions extends CallOptions {
  /**
   * Undoes the completed steps before the run ends: waits for work in flight, then runs the `CompensateWith` of the steps that
   * have begun and of open sagas, starting with the last one to end. The call returns immediately. Use `wait` to wait for the
   * end, and `explain` to see the progress.
   *
   * @default false
   */
  readonly compensate?: boolean;
  /**
   * With `compensate`: how many milliseconds to wait for work in flight.
   *
   * @default 600_000
   */
  readonly graceMs?: number;
  /** The reason, shown in the record of actions and the audit log. Up to 500 characters. */
  readonly reason?: string;
}

/** The options of calls that the server executes once, even if they arrive several times. */
export interface IdempotentCallOptions extends CallOptions {
  /**
   * Identifies this call. If a call arrives again with the same key, the server repeats its first response and does nothing.
   * Set your own key (such as an order number or a message id) if your program may repeat the call after a crash.
   *
   * @default a random key, so that retries of this call are safe
   */
  readonly idempotencyKey?: string;
}

/** A bearer token, or a function that returns a valid one. The client calls the function before every attempt. */
export type TokenSource = string | (() => string | Promise<string>);

/** Header fields, or a function that returns them. The client calls the function before every attempt. */
export type HeaderSource =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** The options of `createClient`. */
export interface ClientOptions<D extends ActivityDeclarations = ActivityDeclarations> {
  /** The URL of the server, such as `http://127.0.0.1:5001`. It may have a path, which precedes `/api`. */
  readonly baseUrl: string | URL;
  /** Required if the server uses authentication. */
  readonly token?: TokenSource;
  /**
   * Added to every request, such as `traceparent`, which makes runs part of the caller's trace, or headers required by a proxy.
   */
  readonly headers?: HeaderSource;
  /**
   * The timeout of a call in milliseconds, including retries and delays.
   *
   * @default 30000
   */
  readonly timeoutMs?: number;
  /**
   * When and how often failed calls are retried. A call that is not safe to repeat is retried only if the server has certainly
   * not executed it. `false` turns retries off.
   */
  readonly retry?: RetryOptions | false;
  /**
   * Replaces the global `fetch`, for example to count or trace requests.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: (request: Request, init?: RequestInit) => Promise<Response>;
  /**
   * How integers beyond ±(2^53 - 1) in data, events and results are returned. As a `number` they are rounded; as a `bigint`
   * they keep all digits. Smaller integers are always numbers. You can always send bigints.
   *
   * With `'bigint'`, numbers from 2^53 are sent as floats.
   *
   * @default 'number'
   */
  readonly integers?: LargeIntegers;
  /** Activities declared with `defineActivities`. They provide the types of `client.activities`. */
  readonly activities?: D;
}
