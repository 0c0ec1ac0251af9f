/**
 * Goal: due times are those that another library finds, whatever the expression and the time zone.
 * Method: random expressions from a seed, and cron-parser, which computes with other code (Luxon). What the libraries define
 * differently is left out: times within two hours of a change of the clocks, which cron-schedule.test.ts covers.
 */
import { CronExpressionParser, type CronExpression } from 'cron-parser';
import { describe, expect, it } from 'vitest';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { CronSchedule, parseCronSchedule } from '../../src/schedules/cron-schedule.js';
import { timeZoneOf } from '../../src/schedules/time-zone.js';

const [EXPRESSIONS, TIMES, ZONES_USED] = IS_NIGHTLY ? [500, 1000, 20] : [40, 100, 5];
const FROM = Date.parse('2026-02-03T04:05:06Z');
/** cron-parser moves some times beyond the gap by an hour more. */
const NEAR_MS = 2 * 3_600_000;
/** On both hemispheres, with half hours, quarters, a change of half an hour, and none. */
const ZONES = [
  'Europe/Zurich',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Santiago',
  'UTC',
  'Africa/Casablanca',
  'America/St_Johns',
  'Asia/Tehran',
  'Asia/Tokyo',
  'Atlantic/Azores',
  'Australia/Adelaide',
  'Europe/Dublin',
  'Pacific/Apia',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'Africa/Cairo',
  'America/Havana',
  'Asia/Gaza',
  'Pacific/Kiritimati',
];

type Pick = (below: number) => number;

function randomOf(seed: number): Pick {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** A field: any value, one, a list, a range, or steps. */
function fieldOf(pick: Pick, low: number, high: number): string {
  const first = low + pick(high - low + 1);
  const last = first + pick(high - first + 1);
  const kinds = ['*', String(first)];
  if (last > first) {
    kinds.push(
      `${first},${last}`,
      `${first}-${last}`,
      `${first}-${last}/${1 + pick(last - first)}`,
    );
  }
  return kinds[pick(kinds.length)]!;
}

function expressionOf(pick: Pick): string {
  const month = pick(3) === 0 ? fieldOf(pick, 1, 12) : '*';
  const days = [fieldOf(pick, 1, 28), '*', 'L', '*'];
  const weekdays = ['*', fieldOf(pick, 0, 6), `${pick(7)}#${1 + pick(4)}`, `${pick(7)}L`];
  const kind = pick(4);
  const day = kind === 3 ? fieldOf(pick, 1, 28) : days[pick(4)]!;
  const weekday = kind === 3 || day === '*' ? weekdays[pick(4)]! : '*';
  const seconds = pick(4) === 0 ? `${pick(60)} ` : '';
  return `${seconds}${fieldOf(pick, 0, 59)} ${fieldOf(pick, 0, 23)} ${day} ${month} ${weekday}`;
}

/** Fewer, if cron-parser does not find the next one within its limit. */
function timesOf(expression: CronExpression): readonly number[] {
  const times: number[] = [];
  try {
    while (times.length < TIMES) times.push(expression.next().getTime());
  } catch (error) {
    if (!String(error).includes('loop limit exceeded')) throw error;
  }
  return times;
}

const pick = randomOf(20_261_123);
const expressions = Array.from({ length: EXPRESSIONS }, () => expressionOf(pick));

describe.each(ZONES.slice(0, ZONES_USED))('the schedule in %s', (zone) => {
  const timeZone = timeZoneOf(zone)!;
  const offsetAt = (time: number): number => timeZone.localOf(time) - time;
  const isSteady = (time: number): boolean =>
    offsetAt(time - NEAR_MS) === offsetAt(time + NEAR_MS) &&
    offsetAt(time) === offsetAt(time + NEAR_MS);

  it('has the due times of another library', { timeout: 1_800_000 }, () => {
    let compared = 0;
    for (const expression of expressions) {
      const schedule = parseCronSchedule(expression, zone);
      if (!(schedule instanceof CronSchedule))
        throw new Error(`${expression}: ${schedule.message}`);
      const other = CronExpressionParser.parse(expression, {
        tz: zone,
        currentDate: new Date(FROM),
      });
      const ours = schedule.next(FROM, TIMES);
      const theirs = timesOf(other);
      const end = Math.min(ours.at(-1)!, theirs.at(-1) ?? FROM);
      const comparable = (times: readonly number[]): readonly string[] =>
        times
          .filter((time) => time <= end && isSteady(time))
          .map((time) => new Date(time).toISOString());
      expect(comparable(ours), expression).toEqual(comparable(theirs));
      compared += comparable(ours).length;
    }
    expect(compared).toBeGreaterThan((EXPRESSIONS * TIMES) / 2);
  });
});
