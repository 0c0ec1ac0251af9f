/**
 * The due times of a cron expression in a time zone.
 *
 *  CX1 A local time that a change of the clocks skips is due at the first instant after the gap; all due times of a gap are
 *      one. A local time that occurs twice is due at its first occurrence only, unless the expression names no hours: then
 *      it follows real time, and an hour that clocks show twice is two hours.
 *  CX2 An expression that parses has a due time: others are rejected.
 *  CX3 The cost of a due time is bounded, whatever the expression.
 *
 * The library finds local times, as if in UTC, where no clock changes; the time zone makes instants of them.
 */
import { Cron } from 'croner';
import { cronFieldProblem, hasAnyHour } from './cron-fields.js';
import { timeZoneOf, type TimeZone } from './time-zone.js';

const LENGTH_MAX = 300;
/** Local times that are looked at for one due time: those of an hour that clocks show twice. */
const TRIES_MAX = 4 * 3600;
const NICKNAMES = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/i;

export type CronProblem =
  | { readonly what: 'cron'; readonly message: string }
  | { readonly what: 'timeZone'; readonly message: string };

export class CronSchedule {
  readonly #cron: Cron;
  readonly #hasAnyHour: boolean;
  readonly #zone: TimeZone;

  constructor(cron: Cron, zone: TimeZone, hasAnyHour: boolean) {
    this.#cron = cron;
    this.#zone = zone;
    this.#hasAnyHour = hasAnyHour;
  }

  /** The first due time after the given one; null if there is none before the year 10000. */
  nextAfter(time: number): number | null {
    const first = this.#nextFirstOccurrence(time);
    const second = this.#hasAnyHour ? this.#nextSecondOccurrence(time) : null;
    if (first === null || second === null) return first ?? second;
    return Math.min(first, second);
  }

  #nextFirstOccurrence(time: number): number | null {
    // Local times up to that of the given one are due at it or before (CX1).
    let local = this.#nextLocal(this.#zone.localOf(time));
    for (let tries = 0; local !== null && tries < TRIES_MAX; tries += 1) {
      const instant = this.#zone.instantOf(local);
      if (instant > time) return instant;
      local = this.#nextLocal(local);
    }
    return null;
  }

  /** In the part of the day that clocks show a second time, if that is near. */
  #nextSecondOccurrence(time: number): number | null {
    const repeated = this.#zone.repeatedNear(time);
    if (repeated === null) return null;
    const { begin, end } = repeated;
    const offset = this.#zone.localOf(begin) - begin;
    const local = this.#nextLocal(Math.max(time, begin - 1) + offset);
    return local === null || local - offset >= end ? null : local - offset;
  }

  /** Due times after the given one, up to `count`. */
  next(time: number, count: number): readonly number[] {
    const times: number[] = [];
    let next = this.nextAfter(time);
    while (next !== null && times.length < count) {
      times.push(next);
      next = times.length < count ? this.nextAfter(next) : null;
    }
    return times;
  }

  #nextLocal(local: number): number | null {
    return this.#cron.nextRun(new Date(local))?.getTime() ?? null;
  }
}

export function parseCronSchedule(
  expression: string,
  timeZone: string,
): CronSchedule | CronProblem {
  const zone = timeZoneOf(timeZone);
  if (zone === null) {
    return {
      what: 'timeZone',
      message: `There is no time zone '${shorten(timeZone)}'. Use an IANA name such as Europe/Zurich.`,
    };
  }
  if (expression.length > LENGTH_MAX) {
    return refused(`it has ${expression.length} characters; at most ${LENGTH_MAX} are allowed`);
  }
  const text = expression.trim();
  const fields = text.split(/\s+/).length;
  if (!NICKNAMES.test(text) && fields !== 5 && fields !== 6) {
    return refused(
      `'${text}' must have 5 fields, or 6 with seconds first, or be one of @hourly, @daily, @weekly, @monthly, @yearly`,
    );
  }
  const problem = NICKNAMES.test(text) ? null : cronFieldProblem(text);
  if (problem !== null) return refused(`'${text}' is invalid: ${problem}`);
  try {
    const cron = new Cron(text, { paused: true, timezone: 'UTC', mode: '5-or-6-parts' });
    const schedule = new CronSchedule(cron, zone, hasAnyHour(text));
    if (cron.nextRun(new Date(0)) === null) return refused(`'${text}' never occurs`);
    return schedule;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused(`'${text}' is invalid: ${reason.replace(/^CronPattern: /, '')}`);
  }
}

function refused(reason: string): CronProblem {
  return { what: 'cron', message: `Invalid cron expression: ${reason.replace(/\.$/, '')}.` };
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
