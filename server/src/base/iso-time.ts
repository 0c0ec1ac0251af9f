/**
 * Times as ISO 8601 in UTC, like `Date.toISOString`.
 *
 * Formatting a date costs a few microseconds, and a short run contains several times of about the same moment. So everything
 * but the milliseconds is kept from one call to the next.
 */
const SECOND = 1000;
const MILLISECONDS = '000Z';

let keptSecond = Number.NaN;
let keptText = '';

/** @throws RangeError for a time that is beyond the range of dates */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / SECOND);
  if (second !== keptSecond) {
    keptText = new Date(second * SECOND).toISOString().slice(0, -MILLISECONDS.length);
    keptSecond = second;
  }
  const rest = Math.trunc(ms - second * SECOND);
  return `${keptText}${String(rest).padStart(3, '0')}Z`;
}
