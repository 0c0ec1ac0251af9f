/**
 * One attempt of a call: sends a request and reads the answer to its end.
 *
 * Owns: `ky`, the time limit of the attempt, and the way from what can go wrong to one of our errors.
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
import { retryAfterMs } from './retry-policy.js';

/** An answer whose whole body is there. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request before it is sent, the same in every attempt. */
export interface PreparedCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface AttemptOptions {
  readonly prepared: PreparedCall;
  /** Adds the token. What it throws comes through as it is. */
  readonly authorize: (request: Request) => Promise<void>;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** What an error says of the call. */
  readonly failed: FailedCall;
}

/**
 * @throws the reason of the signal; TimeoutError, NetworkError; ApiError for every answer that is no success
 */
export async function attempt(options: AttemptOptions): Promise<Answer> {
  const { failed, signal, timeoutMs } = options;
  const { url, ...request } = options.prepared;
  // A signal of its own: ky derives signals from it, which must not pile up on one that the caller keeps.
  const controller = new AbortController();
  const passOn = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', passOn);
  const began = performance.now();
  let text = '';
  try {
    signal?.throwIfAborted();
    const { status, headers } = await ky(url, {
      ...request,
      signal: controller.signal,
      timeout: timeoutMs,
      // The transport makes the further attempts: which ones, and until when, depends on the call.
      retry: 0,
      throwHttpErrors: false,
      // The time limit of ky ends with `fetch`, so the token and the body of the answer are part of it.
      fetch: async (input) => {
        const [response, body] = await send(input as Request, options); // ky always gives a Request.
        text = body;
        return response;
      },
    });
    if (status >= 200 && status < 300) return { status, headers, text };
    throw refusal({ status, headers, text }, failed);
  } catch (error) {
    // By class: a caller's signal may have a reason of this name.
    if (!(error instanceof KyTimeoutError)) throw error;
    throw new TimeoutError({ ...failed, elapsedMs: Math.round(performance.now() - began) });
  } finally {
    signal?.removeEventListener('abort', passOn);
  }
}

/** A `fetch` of the caller's, or a `token` function, need not listen to the signal. */
function send(request: Request, options: AttemptOptions): Promise<[Response, string]> {
  return Promise.race([exchange(request, options), aborted(request.signal)]);
}

async function exchange(
  request: Request,
  { authorize, failed, fetch }: AttemptOptions,
): Promise<[Response, string]> {
  await authorize(request);
  try {
    const response = await fetch(request);
    return [response, await response.text()];
  } catch (cause) {
    throw request.signal.aborted ? request.signal.reason : new NetworkError({ ...failed, cause });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    // The reason is the caller's own.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/** The error of an answer that is no success. */
export function refusal({ status, headers, text }: Answer, failed: FailedCall): ApiError {
  return new ApiError({
    ...failed,
    problem: problemOf(status, jsonOf(text)),
    retryAfterMs: retryAfterMs(headers),
  });
}

/** @throws InvalidAnswerError when it is not what the API answers */
export function valueOf(
  { status, headers, text }: Answer,
  failed: FailedCall,
  integers: LargeIntegers,
): unknown {
  const mediaType = headers.get('content-type') ?? '';
  if (text === '') return undefined;
  if (mediaType.startsWith('text/x-python')) return text;
  try {
    return readJson(text, integers);
  } catch (cause) {
    const got = mediaType === '' ? 'something else' : mediaType;
    throw new InvalidAnswerError(`expected JSON, and got ${got} with status ${status}`, {
      ...failed,
      cause,
    });
  }
}

/** What is no JSON stays a text. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The server's own description, or what can be said about an answer of something in between. */
function problemOf(status: number, data: unknown): Problem {
  if (typeof data === 'object' && data !== null && 'code' in data && 'detail' in data) {
    return { ...(data as Problem), status }; // It has the marks of a problem document.
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
