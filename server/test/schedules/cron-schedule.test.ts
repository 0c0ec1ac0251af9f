/** Due times of cron expressions: local times in zones, changes of the clocks, and what is rejected. */
import { describe, expect, it } from 'vitest';
import { CronSchedule, parseCronSchedule } from '../../src/schedules/cron-schedule.js';

function times(cron: string, after: string, count: number, zone = 'UTC'): readonly string[] {
  const schedule = parseCronSchedule(cron, zone);
  if (!(schedule instanceof CronSchedule)) throw new Error(schedule.message);
  return schedule.next(Date.parse(after), count).map((time) => new Date(time).toISOString());
}

function problem(cron: string, zone = 'UTC'): string {
  const schedule = parseCronSchedule(cron, zone);
  if (schedule instanceof CronSchedule) throw new Error(`'${cron}' was accepted`);
  return schedule.message;
}

describe('a cron expression', () => {
  it.each([
    ['0 2 * * *', ['2026-11-24T02:00:00.000Z', '2026-11-25T02:00:00.000Z']],
    ['*/20 30 12 * * *', ['2026-11-23T12:30:00.000Z', '2026-11-23T12:30:20.000Z']],
    ['@hourly', ['2026-11-23T11:00:00.000Z', '2026-11-23T12:00:00.000Z']],
    ['@yearly', ['2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z']],
    ['0 0 L * *', ['2026-11-30T00:00:00.000Z', '2026-12-31T00:00:00.000Z']],
    ['0 0 * * FRIL', ['2026-11-27T00:00:00.000Z', '2026-12-25T00:00:00.000Z']],
    ['0 0 * * mon#2', ['2026-12-14T00:00:00.000Z', '2027-01-11T00:00:00.000Z']],
    ['0 0 * * 0', ['2026-11-29T00:00:00.000Z', '2026-12-06T00:00:00.000Z']],
    ['0 0 * * 7', ['2026-11-29T00:00:00.000Z', '2026-12-06T00:00:00.000Z']],
    ['0 0 25 * fri', ['2026-11-25T00:00:00.000Z', '2026-11-27T00:00:00.000Z']],
    ['0 0 29 2 *', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
    ['0 0 1 JAN *', ['2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z']],
  ])('has for %s the expected due times', (cron, expected) => {
    expect(times(cron, '2026-11-23T10:00:00Z', 2)).toEqual(expected);
  });

  it.each([
    ['0 0 30 2 *', 'never occurs'],
    ['0 0 31 2,4,6,9,11 *', 'never occurs'],
    ['* * * *', '5 fields, or 6'],
    ['* * * * * * *', '5 fields, or 6'],
    ['2026-01-01T00:00:00', '5 fields, or 6'],
    ['@reboot', '5 fields, or 6'],
    ['60 * * * *', "'60 * * * *' is invalid: '60' is no minute; it must be from 0 to 59."],
    ['1-99 * * * *', "'99' is no minute"],
    ['* 24 * * *', "'24' is no hour"],
    ['0 0 32 * *', "'32' is no day of the month; it must be from 1 to 31."],
    ['0 0 * 13 *', "'13' is no month; it must be from 1 to 12, or a name such as FEB."],
    ['0 0 * FOO *', "'FOO' is no month"],
    ['0 0 * * 8', "'8' is no weekday"],
    ['0 0 * * FRIDAY', "'FRIDAY' is no weekday; it must be from 0 to 7, or a name such as MON."],
    ['60 0 0 * * *', "'60' is no second"],
    ['*/0 * * * *', "the step '0' in the minute '*/0' must be a whole number from 1 to 60"],
    ['0 */25 * * *', "the step '25' in the hour '*/25' must be a whole number from 1 to 24"],
    ['5-1 * * * *', "the minute '5-1' runs backwards"],
    ['0 0 * * sat-mon', "the weekday 'sat-mon' runs backwards"],
    ['1,,2 * * * *', "the minute '1,,2' has an empty entry"],
    ['a * * * *', 'illegal characters'],
    [`${'1,'.repeat(5000)}1 * * * *`, 'at most 300'],
  ])('is rejected: %s', (cron, reason) => {
    expect(problem(cron)).toContain(reason);
  });

  it('is rejected in a zone that does not exist', () => {
    expect(problem('@daily', 'Mars/Olympus')).toContain("no time zone 'Mars/Olympus'");
    expect(problem('@daily', '+02:00')).toContain("no time zone '+02:00'");
  });

  it('takes bounded time, whatever it is', () => {
    const list = (max: number): string => Array.from({ length: max }, (_, i) => i).join(',');
    const begin = performance.now();
    times(`${list(60)} 0-23/1 1-31 1-12 0-7`, '2026-11-23T10:00:00Z', 5);
    times('59 59 23 29 2 *', '2096-03-01T00:00:00Z', 3);
    problem('0 0 0 31 2,4,6,9,11 ?');
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});

describe('a change of the clocks', () => {
  it('moves a skipped local time to the first instant after the gap', () => {
    expect(times('30 2 * * *', '2026-03-28T12:00:00Z', 2, 'Europe/Zurich')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  it('merges all times in a gap into one due time', () => {
    expect(times('*/15 2 * * *', '2026-03-28T12:00:00Z', 2, 'Europe/Zurich')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:00:00.000Z',
    ]);
    expect(times('*/30 * * * *', '2026-03-29T00:30:00Z', 2, 'Europe/Zurich')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ]);
  });

  it('fires a repeated local time at its first occurrence only', () => {
    expect(times('30 2 * * *', '2026-10-24T12:00:00Z', 2, 'Europe/Zurich')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(times('*/30 2 * * *', '2026-10-25T00:00:00Z', 3, 'Europe/Zurich')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:00:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    // From a time within the second occurrence.
    expect(times('*/30 0-23 * * *', '2026-10-25T01:10:00Z', 1, 'Europe/Zurich')).toEqual([
      '2026-10-25T02:00:00.000Z',
    ]);
  });

  it('lets expressions without hours follow real time through the repeated hour', () => {
    const hours = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, i) => `2026-10-25T0${from + i}:00:00.000Z`);
    for (const cron of ['0 * * * *', '@hourly', '0 0 * * * *']) {
      expect(times(cron, '2026-10-24T23:30:00Z', 5, 'Europe/Zurich')).toEqual(hours(0, 4));
      // From every moment, also within the second occurrence, the next one is the same.
      for (let minute = 0; minute < 300; minute += 7) {
        const after = Date.parse('2026-10-25T00:00:00Z') + minute * 60_000;
        const next = Math.floor(after / 3_600_000) * 3_600_000 + 3_600_000;
        expect(times(cron, new Date(after).toISOString(), 1, 'Europe/Zurich')).toEqual([
          new Date(next).toISOString(),
        ]);
      }
    }
    expect(times('*/30 * * * *', '2026-10-25T00:10:00Z', 5, 'Europe/Zurich')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]);
    // Clocks in Lord Howe are set back by half an hour: 02:00 to 01:30.
    expect(times('45 * * * *', '2026-04-04T14:00:00Z', 3, 'Australia/Lord_Howe')).toEqual([
      '2026-04-04T14:45:00.000Z',
      '2026-04-04T15:15:00.000Z',
      '2026-04-04T16:15:00.000Z',
    ]);
    // In Havana, the hour before 1 o'clock occurs twice.
    expect(times('0 * * * *', '2026-11-01T03:30:00Z', 3, 'America/Havana')).toEqual([
      '2026-11-01T04:00:00.000Z',
      '2026-11-01T05:00:00.000Z',
      '2026-11-01T06:00:00.000Z',
    ]);
    // Days count, too.
    expect(times('0 * 25 10 *', '2026-10-24T12:00:00Z', 25, 'Europe/Zurich')).toHaveLength(25);
    expect(times('0 * 25 10 *', '2026-10-24T12:00:00Z', 26, 'Europe/Zurich').at(-1)).toMatch(
      /^2027-/,
    );
  });

  it('shifts due times by half an hour, or by a whole day', () => {
    expect(times('15 2 * * *', '2026-10-03T00:00:00Z', 1, 'Australia/Lord_Howe')).toEqual([
      '2026-10-03T15:30:00.000Z',
    ]);
    // Samoa skipped 30 December 2011.
    expect(times('0 12 * * *', '2011-12-29T23:00:00Z', 2, 'Pacific/Apia')).toEqual([
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T22:00:00.000Z',
    ]);
  });
});
