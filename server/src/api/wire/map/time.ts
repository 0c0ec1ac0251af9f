/** Converts times between milliseconds (host) and ISO 8601 (wire). */
import { AppError } from '../../../base/errors.js';
import { isoTime } from '../../../base/iso-time.js';
import { FAR_FUTURE_MS } from '../../../store/store.js';

/** "Never" for clients of Conductor: the latest time of its platform, which has no zone. */
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

const ISO_TIME =
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i;

/** Parses a time from a query. The default time zone is UTC, as in all responses. */
export function fromWireTime(text: string, parameter: string): number {
  // A plus sign that was not percent-encoded arrives as a space.
  const match = ISO_TIME.exec(text.trim().replace(' ', '+'));
  if (match !== null) {
    const hasClock = /T/i.test(match[0]);
    const zoned = hasClock && match.groups?.['zone'] === undefined ? `${match[0]}Z` : match[0];
    const ms = Date.parse(zoned);
    if (!Number.isNaN(ms)) return ms;
  }
  throw new AppError('invalid_request', `${parameter} must be an ISO 8601 time`, {
    parameter,
  });
}
