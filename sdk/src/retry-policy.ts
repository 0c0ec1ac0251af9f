/** When a failed attempt may be made again, and when that is. */
import { ApiError, NetworkError, TimeoutError } from './errors.js';
import type { RetryOptions } from './options.js';

/**
 * What a repetition of the call does:
 * - `always`: nothing that the first one did not do, so that it may follow any failure;
 * - `refused`: perhaps harm, so that it follows only a failure that shows that nothing was carried out.
 */
export type Repeatable = 'always' | 'refused';

export type RetrySettings = Required<RetryOptions>;

export const DEFAULT_RETRY: RetrySettings = {
  limit: Infinity,
  delayMs: 200,
  delayMsMax: 5000,
  attemptTimeoutMs: 10_000,
};

export const TEMPORARY_STATUSES: readonly number[] = [408, 429, 502, 503, 504];

/** The server gives these codes before it has done anything. A lost store is not among them: it may have stored. */
const REFUSAL_CODES: readonly string[] = ['overloaded', 'stopping', 'python_unavailable'];

/** What Node says when no connection came about. Browsers do not tell, so there such a call is not repeated. */
const NO_CONNECTION_CODES: readonly (string | null)[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Settings of one call, with the client's where the call has none. */
export function mergeRetry(
  base: RetrySettings,
  own: RetryOptions | false | undefined,
): RetrySettings {
  return own === false ? { ...base, limit: 0 } : { ...base, ...own };
}

/** How an attempt failed, and how many there were. */
interface FailedAttempt {
  readonly error: unknown;
  readonly attempts: number;
  readonly repeatable: Repeatable;
  readonly remainingMs: number;
}

/** The pause before the next attempt; null when there must not be one. */
export function pauseBeforeNext(
  { error, attempts, repeatable, remainingMs }: FailedAttempt,
  { limit, delayMs, delayMsMax }: RetrySettings,
): number | null {
  if (attempts > limit || !mayRepeat(error, repeatable)) return null;
  const wishedMs = error instanceof ApiError ? error.retryAfterMs : null;
  if (wishedMs === null) {
    return Math.min(delayMsMax, delayMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
  }
  // Rather the server's answer now than a time-out later.
  return wishedMs < remainingMs ? wishedMs : null;
}

function mayRepeat(error: unknown, repeatable: Repeatable): boolean {
  if (error instanceof NetworkError) {
    return repeatable === 'always' || NO_CONNECTION_CODES.includes(error.code);
  }
  if (error instanceof TimeoutError) return repeatable === 'always';
  if (!(error instanceof ApiError) || !TEMPORARY_STATUSES.includes(error.status)) return false;
  return repeatable === 'always' || wasRefused(error);
}

function wasRefused({ code, status }: ApiError): boolean {
  return status === 429 || (status === 503 && REFUSAL_CODES.includes(code));
}

/** The server's wish in milliseconds: a number of seconds, or a date. */
export function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}
