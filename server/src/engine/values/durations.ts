/**
 * Parses human-readable durations into milliseconds.
 *
 * - a number: seconds
 * - `h:m[:s[.fff]]`, `d.h:m[:s[.fff]]`: the format of .NET clients
 * - `90s`, `15m`, `1h`, `2d`
 * - `P[nW][nD][T[nH][nM][nS]]`: ISO 8601; years and months are rejected, because their length varies
 *
 * A negative duration counts as zero: a wait until a time in the past ends immediately.
 */

/**
 * Longer waits are mistakes (milliseconds given as seconds, for example), and dates beyond it exceed the range of clocks.
 */
export const MAX_DURATION_MS = 100 * 365.25 * 24 * 3600 * 1000;

/** For messages: the accepted formats in one phrase. */
export const DURATION_FORMS =
  'a number of seconds, "90s", "15m", "1h", "2d", "hh:mm:ss", "d.hh:mm:ss" or an ISO 8601 duration such as "PT5S"';

/** No valid duration is longer; the limit keeps huge texts from the patterns below. */
const MAX_TEXT_LENGTH = 64;

const CLOCK = /^(?:(\d{1,6})\.)?(\d{1,6}):([0-5]?\d)(?::([0-5]?\d(?:\.\d{1,9})?))?$/;
const NUMBER = String.raw`(\d{1,15}(?:[.,]\d{1,9})?)`;
const ISO = new RegExp(
  `^P(?=.)(?:${NUMBER}W)?(?:${NUMBER}D)?(?:T(?=.)(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`,
  'i',
);

const SUFFIX = /^(\d{1,15}(?:\.\d{1,9})?)\s?([smhd])$/i;

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: HOUR_SECONDS,
  d: DAY_SECONDS,
};

/**
 * The duration in whole milliseconds: 0 if it is negative, null if the value is not a valid duration or exceeds 100 years.
 */
export function parseDurationMs(value: unknown): number | null {
  if (typeof value === 'number') return toMs(value);
  // An integer of this size is far beyond 100 years, or negative.
  if (typeof value === 'bigint') return value < 0n ? 0 : null;
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) return null;
  const text = value.trim();
  if (!text.startsWith('-')) return parseText(text);
  return parseText(text.slice(1)) === null ? null : 0;
}

function parseText(text: string): number | null {
  return parseClock(text) ?? parseSuffixed(text) ?? parseIso(text);
}

function parseSuffixed(text: string): number | null {
  const match = SUFFIX.exec(text);
  if (match === null) return null;
  const [, count, unit = ''] = match;
  return toMs(toNumber(count) * (UNIT_SECONDS[unit.toLowerCase()] ?? 1));
}

function parseClock(text: string): number | null {
  const match = CLOCK.exec(text);
  if (match === null) return null;
  const [, days, hours, minutes, seconds] = match;
  // With days in front, 24 hours or more are a typo; without, they are valid.
  if (days !== undefined && Number(hours) > 23) return null;
  return toMs(
    toNumber(days) * DAY_SECONDS +
      toNumber(hours) * HOUR_SECONDS +
      toNumber(minutes) * 60 +
      toNumber(seconds),
  );
}

function parseIso(text: string): number | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, weeks, days, hours, minutes, seconds] = match;
  return toMs(
    (toNumber(weeks) * 7 + toNumber(days)) * DAY_SECONDS +
      toNumber(hours) * HOUR_SECONDS +
      toNumber(minutes) * 60 +
      toNumber(seconds),
  );
}

function toNumber(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits.replace(',', '.'));
}

/**
 * Fractions of a millisecond are rounded up, so that no timer fires early. Rounding to microseconds first prevents binary
 * fractions (1.1 * 1000 = 1100.0000000000002) from adding a millisecond.
 */
function toMs(seconds: number): number | null {
  if (!Number.isFinite(seconds)) return null;
  // This also avoids a negative zero, which would print as "-0" and compare unequal in snapshots.
  if (seconds <= 0) return 0;
  const ms = Math.ceil(Math.round(seconds * 1_000_000) / 1000);
  return ms <= MAX_DURATION_MS ? ms : null;
}
