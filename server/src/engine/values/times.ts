/**
 * Reads times. Step inputs, parameters, bodies, the command line and tests all use this function.
 *
 *  TM1 A time that doesn't exist, such as 30 February, is rejected, never moved to another day.
 *  TM2 Without a time zone, a time is in UTC, whatever the server's time zone.
 */

/** An example for messages. */
export const TIME_EXAMPLE = '2030-01-31T12:00:00Z';

export type ReadTime =
  | { readonly ok: true; readonly ms: number }
  /** `reason`: why the time does not exist; null if the text isn't formatted as a time. */
  | { readonly ok: false; readonly reason: string | null };

const LENGTH_MAX = 64;

/** A day, or a day and a time. The plus sign of an offset arrives as a space when it was not percent-encoded in a URL. */
const FORM =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([-+ ])(\d\d)(?::?(\d\d))?)?)?$/;

const MONTHS: readonly string[] =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const MINUTE_MS = 60_000;
/** The years 1 to 9999, as in Python. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

export function readTime(text: string): ReadTime {
  const match = text.length <= LENGTH_MAX ? FORM.exec(text.trim()) : null;
  if (match === null) return refused(null);
  const [, years, months, days, hours = '0', minutes = '0', seconds = '0', fraction = ''] = match;
  const [year, month, day] = [Number(years), Number(months), Number(days)];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const reason =
    dayProblem(year, month, day) ??
    clockProblem({ hour, minute, second, hasFraction: /[1-9]/.test(fraction) });
  if (reason !== null) return refused(reason);
  const [sign, offsetHours = '0', offsetMinutes = '0'] = match.slice(8);
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) {
    return refused('an offset from UTC is less than 24 hours');
  }
  const date = new Date(0);
  // Date.UTC would interpret the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  // The hour 24 is the start of the next day.
  date.setUTCHours(hour, minute, second, ms);
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MINUTE_MS;
  const time = date.getTime() - (sign === '-' ? -offset : offset);
  return time < FIRST_MS || time > LAST_MS
    ? refused('in UTC it is not in the years 1 to 9999')
    : { ok: true, ms: time };
}

/** The quoted value and why it isn't a time, as the end of a sentence. */
export function timeProblem(quoted: string, reason: string | null): string {
  return reason === null ? quoted : `${quoted}: ${reason}`;
}

function refused(reason: string | null): ReadTime {
  return { ok: false, reason };
}

function dayProblem(year: number, month: number, day: number): string | null {
  if (year === 0) return 'there is no year 0';
  const name = MONTHS[month - 1];
  if (name === undefined) return `there is no month ${month}`;
  const days = daysOf(year, month);
  if (day === 0) return 'there is no day 0';
  return day > days ? `${name} ${year} has ${days} days` : null;
}

function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly hasFraction: boolean;
}

function clockProblem({ hasFraction, hour, minute, second }: Clock): string | null {
  if (hour === 24 && (minute > 0 || second > 0 || hasFraction)) return 'a day ends at 24:00:00';
  if (hour > 24) return `there is no hour ${hour}`;
  if (minute > 59) return `there is no minute ${minute}`;
  if (second === 60) return 'leap seconds are not counted; write the second before or after it';
  return second > 60 ? `there is no second ${second}` : null;
}
