/** Converts times between milliseconds (host) and ISO 8601 (wire). */
import { AppError } from '../../../base/errors.js';
import { isoTime } from '../../../base/iso-time.js';
import { quoteText } from '../../../engine/values/convert-input.js';
import { readTime, TIME_EXAMPLE, timeProblem } from '../../../engine/values/times.js';
import { FAR_FUTURE_MS } from '../../../store/store.js';

/** "Never" for Conductor clients: the latest time on its platform, without a time zone. */
const NEVER = '9999-12-31T23:59:59.9999999';

export function toWireTime(ms: number): string {
  return isoTime(ms);
}

export function toWireTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toWireTime(ms);
}

export function toTokenExpiry(ms: number | null): string {
  return ms === null || ms >= FAR_FUTURE_MS ? NEVER : toWireTime(ms);
}

/** Parses a time in a parameter or body member. @throws AppError `invalid_request` */
export function fromWireTime(text: string, parameter: string): number {
  const read = readTime(text);
  if (read.ok) return read.ms;
  const got = timeProblem(quoteText(text), read.reason);
  const message = `${parameter} must be an ISO 8601 time such as ${TIME_EXAMPLE}, not ${got}`;
  throw new AppError('invalid_request', message, { parameter });
}
