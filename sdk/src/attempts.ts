/**
 * The attempts of one call. Each sends the request and reads the whole response.
 *
 * ky repeats attempts, pauses between them, and ends an attempt after its timeout. Its defaults differ from the SDK's promises
 * (docs/adr/0015-attempts-by-ky.md), so it gets the policy from here:
 *  - `shouldRetry` and `delay` ask `retry-policy.ts`, because a call is retried only if that is safe, which its method doesn't
 *    tell, and because a `Retry-After` beyond the call's timeout ends the call at once.
 *  - `fetch` also gets the token and reads the body, because ky's timeout covers only `fetch`. A truncated body is a failed
 *    attempt (TR4).
 *  - One timer ends the whole call (TR2), because ky's timeout applies to each attempt.
 */
import ky, { TimeoutError as KyTimeoutError } from 'ky';
import type { Problem } from './api-types.js';
import {
  ApiError,
  InvalidAnswerError,
  NetworkError,
  TimeoutError,
  type FailedCall,
} from './errors.js';
import { readJson, type LargeIntegers } from './exact-json.js';
import {
  pauseBeforeNext,
  retryAfterMs,
  type Repeatable,
  type RetrySettings,
} from './retry-policy.js';

/** A response whose body has been read completely. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request before it is sent. It is the same in every attempt. */
export interface PreparedCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

interface AttemptsOptions {
  readonly prepared: PreparedCall;
  /** Adds the token. Its errors are passed on unchanged. */
  readonly authorize: (request: Request) => Promise<void>;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly repeatable: Repeatable;
  readonly retry: RetrySettings;
  /** The timeout of the call, with all attempts and pauses. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** How errors describe the call. */
  readonly about: Omit<FailedCall, 'attempts'>;
}

/** The longest delay that `setTimeout` accepts. */
const TIMER_MS_MAX = 2_147_483_647;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const TIME_IS_UP = Symbol('time is up');

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #began = performance.now();
  /** Separate from the caller's signal, which may be long-lived: the signals that ky derives would accumulate on it. */
  readonly #end = new AbortController();
  #count = 0;
  #pauseMs = 0;
  /** The last failure that isn't a timeout: a timeout is less specific, so it doesn't replace it. */
  #cause: unknown;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** How errors describe the call, with the number of attempts so far. */
  get failed(): FailedCall {
    return { ...this.#options.about, attempts: Math.max(1, this.#count) };
  }

  /**
   * Makes attempts until one succeeds, one fails permanently, or the time is up.
   *
   * @throws the reason of the signal; TimeoutError; NetworkError; ApiError for every status outside 200 to 299
   */
  async run(): Promise<Answer> {
    const { signal, timeoutMs } = this.#options;
    const passOn = (): void => this.#end.abort(signal?.reason);
    signal?.addEventListener('abort', passOn);
    const timer =
      timeoutMs > TIMER_MS_MAX
        ? undefined
        : setTimeout(() => this.#end.abort(TIME_IS_UP), timeoutMs);
    try {
      signal?.throwIfAborted();
      return await this.#run();
    } catch (error) {
      signal?.throwIfAborted();
      // Check the class, not the name: an error of the caller's `token` function may have the same name.
      const isTimeout = error instanceof KyTimeoutError || this.#end.signal.reason === TIME_IS_UP;
      throw isTimeout ? this.#timeout() : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', passOn);
    }
  }

  async #run(): Promise<Answer> {
    const { prepared, retry } = this.#options;
    const { url, ...request } = prepared;
    let text = '';
    const { status, headers } = await ky(url, {
      ...request,
      signal: this.#end.signal,
      timeout: Math.max(0, Math.min(retry.attemptTimeoutMs, TIMER_MS_MAX)),
      throwHttpErrors: false,
      retry: {
        limit: retry.limit,
        methods: [...METHODS],
        shouldRetry: ({ error }) => this.#shouldRetry(error),
        delay: () => this.#pauseMs,
      },
      fetch: async (input) => {
        this.#count += 1;
        const [response, body] = await this.#send(input as Request); // ky always gives a Request.
        text = body;
        return response;
      },
    });
    return { status, headers, text };
  }

  #shouldRetry(thrown: Error): boolean {
    if (this.#end.signal.aborted) return false;
    const { repeatable, retry, timeoutMs } = this.#options;
    const error = thrown instanceof KyTimeoutError ? this.#timeout() : thrown;
    if (error === thrown) this.#cause = error;
    const remainingMs = Math.max(0, timeoutMs - this.#elapsedMs());
    const pauseMs = pauseBeforeNext(
      { error, attempts: this.#count, repeatable, remainingMs },
      retry,
    );
    if (pauseMs === null) return false;
    // A timer can't wait for months.
    if (remainingMs === 0) this.#end.abort(TIME_IS_UP);
    this.#pauseMs = pauseMs;
    return true;
  }

  /** Ends with the signal even if the caller's `fetch` or `token` function ignores it. */
  #send(request: Request): Promise<[Response, string]> {
    return Promise.race([this.#exchange(request), aborted(request.signal)]);
  }

  async #exchange(request: Request): Promise<[Response, string]> {
    const { authorize, fetch } = this.#options;
    await authorize(request);
    let response: Response;
    let text: string;
    try {
      response = await fetch(request);
      text = await response.text();
    } catch (cause) {
      throw request.signal.aborted
        ? request.signal.reason
        : new NetworkError({ ...this.failed, cause });
    }
    if (response.ok) return [response, text];
    throw refusal({ status: response.status, headers: response.headers, text }, this.failed);
  }

  #elapsedMs(): number {
    return performance.now() - this.#began;
  }

  #timeout(): TimeoutError {
    const elapsedMs = Math.round(this.#elapsedMs());
    return new TimeoutError({ ...this.failed, elapsedMs, cause: this.#cause });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    // The caller may pass any value to `abort`.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/** The error for a response that reports a failure. */
export function refusal({ status, headers, text }: Answer, failed: FailedCall): ApiError {
  return new ApiError({
    ...failed,
    problem: problemOf(status, jsonOf(text)),
    retryAfterMs: retryAfterMs(headers),
  });
}

/** @throws InvalidAnswerError if the response does not come from the API */
export function valueOf(
  { status, headers, text }: Answer,
  failed: FailedCall,
  integers: LargeIntegers,
): unknown {
  const mediaType = headers.get('content-type') ?? '';
  if (text === '') return undefined;
  if (/^(?:text\/x-python|application\/yaml)/.test(mediaType)) return text;
  // Elsewhere, plain text comes from a proxy.
  if (mediaType.startsWith('text/plain') && failed.call.endsWith('/types')) return text;
  try {
    return readJson(text, integers);
  } catch (cause) {
    const got = mediaType === '' ? 'something else' : mediaType;
    throw new InvalidAnswerError(`expected JSON, but got ${got} with status ${status}`, {
      ...failed,
      cause,
    });
  }
}

/** Returns the text itself if it is not valid JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The server's problem document, or a substitute if something else responded, such as a proxy. */
function problemOf(status: number, data: unknown): Problem {
  if (typeof data === 'object' && data !== null && 'code' in data && 'detail' in data) {
    return { ...(data as Problem), status }; // It has the members of a problem document.
  }
  const title = `HTTP ${status}`;
  return {
    type: 'about:blank',
    title,
    status,
    code: `http_${status}`,
    detail: typeof data === 'string' && data !== '' && data.length <= 200 ? data : title,
  };
}
