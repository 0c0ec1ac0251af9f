/**
 * One attempt of a call: sends a request and reads the whole response.
 *
 * Owns: `ky`, the timeout of the attempt, and the mapping of failures to the errors of the SDK.
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

export interface AttemptOptions {
  readonly prepared: PreparedCall;
  /** Adds the token. Its errors are passed on unchanged. */
  readonly authorize: (request: Request) => Promise<void>;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** How errors describe the call. */
  readonly failed: FailedCall;
}

/**
 * @throws the reason of the signal; TimeoutError; NetworkError; ApiError for every status outside 200 to 299
 */
export async function attempt(options: AttemptOptions): Promise<Answer> {
  const { failed, signal, timeoutMs } = options;
  const { url, ...request } = options.prepared;
  // A separate signal: ky derives signals from it, which must not accumulate on a long-lived signal of the caller.
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
      // The transport retries: whether and for how long depends on the call.
      retry: 0,
      throwHttpErrors: false,
      // The timeout of ky covers only `fetch`. Fetching the token and reading the body here makes it cover them too.
      fetch: async (input) => {
        const [response, body] = await send(input as Request, options); // ky always gives a Request.
        text = body;
        return response;
      },
    });
    if (status >= 200 && status < 300) return { status, headers, text };
    throw refusal({ status, headers, text }, failed);
  } catch (error) {
    // Check the class, not the name: the reason of the caller's signal may have the same name.
    if (!(error instanceof KyTimeoutError)) throw error;
    throw new TimeoutError({ ...failed, elapsedMs: Math.round(performance.now() - began) });
  } finally {
    signal?.removeEventListener('abort', passOn);
  }
}

/** Ends with the signal even if the caller's `fetch` or `token` function ignores it. */
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
    // The reason is whatever the caller passed to `abort`.
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
