/** Decides whether a failed attempt is retried, and after which delay. */
import { ApiError, NetworkError, TimeoutError } from './errors.js';
import type { RetryOptions } from './options.js';

/**
 * When it is safe to retry a call:
 * - `always`: the call is idempotent, so it is retried after every temporary failure;
 * - `refused`: a repeated call might do harm, so it is retried only if the server has certainly not executed it.
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

/** The server sends these codes before it executes anything. `store_unavailable` is not one: the store may have committed. */
const REFUSAL_CODES: readonly string[] = ['overloaded', 'stopping', 'python_unavailable'];

/** The error codes of Node.js if it could not connect. Browsers report no code, so such calls are not retried there. */
const NO_CONNECTION_CODES: readonly (string | null)[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** The retry settings of one call. The client's settings are the defaults. */
export function mergeRetry(
  base: RetrySettings,
  own: RetryOptions | false | undefined,
): RetrySettings {
  return own === false ? { ...base, limit: 0 } : { ...base, ...own };
}

/** A failed attempt, with the number of attempts so far. */
interface FailedAttempt {
  readonly error: unknown;
  readonly attempts: number;
  readonly repeatable: Repeatable;
  readonly remainingMs: number;
}

/** The delay before the next attempt; null if there must not be one. */
export function pauseBeforeNext(
  { error, attempts, repeatable, remainingMs }: FailedAttempt,
  { limit, delayMs, delayMsMax }: RetrySettings,
): number | null {
  if (attempts > limit || !mayRepeat(error, repeatable)) return null;
  // The next attempt has a new token, or is refused with another code.
  if (isEnded(error)) return 0;
  const wishedMs = error instanceof ApiError ? error.retryAfterMs : null;
  if (wishedMs === null) {
    return Math.min(delayMsMax, delayMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
  }
  // If the delay exceeds the remaining time, fail now with the server's error rather than later with a timeout.
  return wishedMs < remainingMs ? wishedMs : null;
}

function mayRepeat(error: unknown, repeatable: Repeatable): boolean {
  if (error instanceof NetworkError) {
    return repeatable === 'always' || NO_CONNECTION_CODES.includes(error.code);
  }
  // A call whose token expired in the meantime may have had an effect.
  if (error instanceof TimeoutError || isEnded(error)) return repeatable === 'always';
  if (!(error instanceof ApiError) || !TEMPORARY_STATUSES.includes(error.status)) return false;
  return repeatable === 'always' || wasRefused(error);
}

function isEnded(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'authorization_ended';
}

function wasRefused({ code, status }: ApiError): boolean {
  return status === 429 || (status === 503 && REFUSAL_CODES.includes(code));
}

/** The `Retry-After` header in milliseconds. Its value is a number of seconds, or a date. */
export function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}
