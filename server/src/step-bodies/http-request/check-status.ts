/**
 * With the input SucceedOn, a response whose status it does not name is a failure of the step.
 *
 *  SO1 The error contains the status and the start of the body, which show what to do.
 *  SO2 A `Retry-After` delays the next attempt and never brings it forward; an invalid one is ignored.
 */
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import type { StatusList } from '../../engine/values/status-list.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import { readHttpDate } from './http-date.js';

const SHOWN_BODY_LENGTH = 500;
/** Maximum delay that the callee can request. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;

/** Statuses of 400 to 499 that may change a moment later: timeout, too early, too many requests. */
const PASSING_CLIENT_ERRORS: ReadonlySet<number> = new Set([408, 425, 429]);

export interface CheckedResponse {
  readonly statusCode: number;
  readonly body: Json;
  /** Why the response is incomplete. */
  readonly problem: string | null;
  /** The `Retry-After` fields. */
  readonly retryAfter: readonly string[];
  /** The time of the response. */
  readonly now: number;
  /** Takes secrets out of the body before it is cut: a part of a value is not recognized. */
  readonly mask?: (text: string) => string;
}

/** The failure that a response represents; null if it is a success. `from` names the call. */
export function failureOf(
  succeedOn: StatusList,
  from: string,
  answer: CheckedResponse,
): EffectResult | null {
  const { body, mask, problem, statusCode } = answer;
  const isWanted = succeedOn.includes(statusCode);
  if (isWanted && problem === null) return null;
  const begins = problem === null ? beginningOf(body, mask) : `, but ${problem}`;
  return {
    ok: false,
    failure: {
      type: isClientError(statusCode) && !isWanted ? 'HttpClientError' : 'HttpError',
      message: `${from} answered ${statusCode}${begins}`,
      data: { ResponseCode: statusCode },
      retryAfterMs: retryAfterMs(answer.retryAfter, answer.now),
    },
  };
}

function isClientError(statusCode: number): boolean {
  return statusCode >= 400 && statusCode <= 499 && !PASSING_CLIENT_ERRORS.has(statusCode);
}

function beginningOf(body: Json, mask = (text: string): string => text): string {
  const whole = typeof body === 'string' ? body.trim() : writeJson(body);
  if (body === null || whole === '') return '';
  const text = mask(whole);
  return text.length <= SHOWN_BODY_LENGTH ? `: ${text}` : `: ${text.slice(0, SHOWN_BODY_LENGTH)}…`;
}

/** Milliseconds from a number of seconds or an HTTP date; 0 if it is in the past or invalid. Of several, the longest. */
export function retryAfterMs(fields: readonly string[], now: number): number {
  const wantedMs = fields.map((field) => {
    const text = field.trim();
    if (/^\d+$/.test(text)) return Number(text) * 1000;
    return (readHttpDate(text, now) ?? now) - now;
  });
  return Math.min(Math.max(0, ...wantedMs), RETRY_AFTER_MS_MAX);
}
