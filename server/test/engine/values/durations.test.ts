/**
 * Goal: every form of a duration is converted to milliseconds, and everything else is rejected.
 * Method: tables.
 */
import { describe, expect, it } from 'vitest';
import { MAX_DURATION_MS, parseDurationMs } from '../../../src/engine/values/durations.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function check(cases: readonly (readonly [unknown, number | null])[]): void {
  for (const [value, expected] of cases) {
    expect(parseDurationMs(value), `duration ${String(value).slice(0, 80)}`).toBe(expected);
  }
}

describe('parseDurationMs', () => {
  it('reads numbers as seconds', () => {
    check([
      [0, 0],
      [-0, 0],
      [5, 5 * SECOND],
      [0.25, 250],
      [1.1, 1100],
      [0.1 + 0.2, 300],
      [86_400, DAY],
    ]);
  });

  it('rounds fractions of a millisecond up, so that nothing fires early', () => {
    check([
      [0.0001, 1],
      [1.0005, 1001],
      ['00:00:01.0001', 1001],
      ['PT0.0001S', 1],
    ]);
  });

  it('reads hours, minutes and seconds, optionally preceded by days', () => {
    check([
      ['00:00:05', 5 * SECOND],
      ['1:02:03', HOUR + 2 * MINUTE + 3 * SECOND],
      ['00:00:00.5', 500],
      ['00:00:00.1234567', 124],
      ['1.00:00:00', DAY],
      ['2.03:04:05.006', 2 * DAY + 3 * HOUR + 4 * MINUTE + 5 * SECOND + 6],
      ['36:00:00', 36 * HOUR],
      ['0:0:5', 5 * SECOND],
      ['1:30', 90 * MINUTE],
      ['00:05', 5 * MINUTE],
      ['2.1:30', 2 * DAY + 90 * MINUTE],
      [' 00:01:00 ', MINUTE],
    ]);
  });

  it('reads ISO 8601 durations of fixed length', () => {
    check([
      ['PT5S', 5 * SECOND],
      ['PT1H30M', 90 * MINUTE],
      ['P1D', DAY],
      ['P1DT12H', 36 * HOUR],
      ['P2W', 14 * DAY],
      ['PT0.5S', 500],
      ['PT0,5S', 500],
      ['pt5s', 5 * SECOND],
      ['PT0S', 0],
    ]);
  });

  it('reads negative durations as zero', () => {
    check([
      [-1, 0],
      [-0.001, 0],
      [-1e300, 0],
      ['-00:00:05', 0],
      ['-1:30', 0],
      ['-PT5S', 0],
      ['-', null],
      ['--PT5S', null],
      ['PT-5S', null],
    ]);
  });

  it('rejects durations that are not finite or longer than 100 years', () => {
    check([
      [Number.NaN, null],
      [Number.NEGATIVE_INFINITY, null],
      [Number.POSITIVE_INFINITY, null],
      [MAX_DURATION_MS / 1000, MAX_DURATION_MS],
      [MAX_DURATION_MS / 1000 + 1, null],
      ['36526.00:00:00', null],
      ['P5300W', null],
      [Number.MAX_VALUE, null],
    ]);
  });

  it('rejects everything else', () => {
    check([
      ['', null],
      ['5', null],
      ['1:', null],
      ['1:2:', null],
      ['1:60', null],
      ['00:60:00', null],
      ['00:00:60', null],
      ['1.24:00:00', null],
      ['00:00:05.', null],
      ['P', null],
      ['PT', null],
      ['P1DT', null],
      ['P1Y', null],
      ['P1M', null],
      ['PT5', null],
      ['00:00:05\u0000', null],
      ['9'.repeat(100_000), null],
      [null, null],
      [undefined, null],
      [true, null],
      [[5], null],
      [{ seconds: 5 }, null],
      [5n, null],
    ]);
  });
});
