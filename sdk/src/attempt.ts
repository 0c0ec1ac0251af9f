/**
 * One attempt of a call: sends a request and reads the answer to its end.
 *
 * Owns: the time limit of the attempt, and the way from what can go wrong to one of our errors.
 */
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

export interface AttemptOptions {
  /** Makes the request. What it throws comes through as it is. */
  readonly prepare: (signal: AbortSignal) => Promise<Request>;
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
  const controller = new AbortController();
  const began = performance.now();
  const timedOut = (): TimeoutError =>
    new TimeoutError({ ...failed, elapsedMs: Math.round(performance.now() - began) });
  const timer = setTimeout(() => controller.abort(timedOut()), timeoutMs);
  const passOn = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', passOn);
  try {
    signal?.throwIfAborted();
    // A `fetch` of the caller's, or a `token` function, need not heed the signal.
    const answer = await Promise.race([
      send(options, controller.signal),
      aborted(controller.signal),
    ]);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw refusal(answer, failed);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', passOn);
  }
}

async function send(
  { failed, fetch, prepare }: AttemptOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const request = await prepare(signal);
  try {
    const response = await fetch(request);
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  } catch (cause) {
    throw signal.aborted ? signal.reason : new NetworkError({ ...failed, cause });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    // The reason is the caller's own, or one of our errors.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    signal.addEventListener('abort', () => reject(signal.reason));
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
