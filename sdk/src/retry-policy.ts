/** When a failed attempt may be made again, and when that is. */
import { isHTTPError, isTimeoutError, type RetryOptions as KyRetryOptions } from 'ky';
import type { RetryOptions } from './options.js';

/**
 * What a repetition of the call does:
 * - `always`: nothing that the first one did not do, so that it may follow any failure;
 * - `refused`: perhaps harm, so that it follows only a failure that shows that nothing was carried out.
 */
export type Repeatable = 'always' | 'refused';

export type RetrySettings = Required<RetryOptions>;

export const DEFAULT_RETRY: RetrySettings = {
  limit: 5,
  delayMs: 200,
  delayMsMax: 5000,
  attemptTimeoutMs: 10_000,
};

const TEMPORARY_STATUSES = [408, 429, 502, 503, 504];

/** The server gives these codes before it has done anything. A lost store is not among them: it may have stored. */
const REFUSAL_CODES: readonly unknown[] = ['overloaded', 'stopping', 'python_unavailable'];

/** What Node says when no connection came about. Browsers do not tell, so there such a call is not repeated. */
const NO_CONNECTION_CODES: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** `fetch` failed. It keeps apart what the network did from errors in code that `ky` happens to call. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure' as const;
}

/** Settings of one call, with the client's where the call has none. */
export function mergeRetry(
  base: RetrySettings,
  own: RetryOptions | false | undefined,
): RetrySettings {
  return own === false ? { ...base, limit: 0 } : { ...base, ...own };
}

/** The policy in the form of `ky`. `remainingMs` is what is left of the time for the call. */
export function kyRetry(
  settings: RetrySettings,
  repeatable: Repeatable,
  remainingMs: () => number,
): KyRetryOptions {
  return {
    limit: settings.limit,
    methods: ['get', 'post', 'put', 'delete'],
    statusCodes: TEMPORARY_STATUSES,
    afterStatusCodes: [429, 503],
    retryOnTimeout: true,
    delay: (attempt) => Math.min(settings.delayMsMax, settings.delayMs * 2 ** (attempt - 1)),
    jitter: (delayMs) => delayMs * (0.5 + Math.random() / 2),
    // `undefined` lets ky go on to its own rules, which know Retry-After.
    shouldRetry: ({ error }) => {
      if (error instanceof FetchFailure) {
        return repeatable === 'always' || neverConnected(error.cause);
      }
      if (isTimeoutError(error)) return repeatable === 'always' ? undefined : false;
      if (!isHTTPError(error)) return false;
      if (repeatable === 'refused' && !wasRefused(error.response.status, error.data)) return false;
      // Rather the server's answer now than a time-out later.
      return (retryAfterMs(error.response) ?? 0) < remainingMs() ? undefined : false;
    },
  };
}

/** The server's wish in milliseconds: a number of seconds, or a date. */
export function retryAfterMs(response: Response): number | null {
  const text = response.headers.get('retry-after');
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now());
}

function wasRefused(status: number, problem: unknown): boolean {
  return status === 429 || (status === 503 && REFUSAL_CODES.includes(memberOf(problem, 'code')));
}

/** undici wraps the system's error, once or twice. */
function neverConnected(error: unknown): boolean {
  const inner = memberOf(error, 'cause');
  return (
    NO_CONNECTION_CODES.includes(memberOf(error, 'code')) ||
    (inner !== undefined && inner !== error && neverConnected(inner))
  );
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  // It is there, as `in` has just said.
  return (value as Readonly<Record<string, unknown>>)[name];
}
