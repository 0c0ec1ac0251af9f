/** Goal: a time is read exactly, or refused with the reason (TM1, TM2). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTime } from '../../../src/engine/values/times.js';
import { READ_TIMES, REFUSED_TIMES } from '../../support/times.js';

describe('readTime', () => {
  it.each(READ_TIMES)('reads %s as %s', (text, time) => {
    expect(readTime(text)).toEqual({ ok: true, ms: Date.parse(time) });
  });

  it.each(REFUSED_TIMES)('refuses %s: %s', (text, reason) => {
    expect(readTime(text)).toEqual({
      ok: false,
      reason: reason === '' ? null : (expect.stringContaining(reason) as string),
    });
  });

  it('reads every time that Date writes', () => {
    const times = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(times, (time) => {
        expect(readTime(time.toISOString())).toEqual({ ok: true, ms: time.getTime() });
      }),
    );
  });

  it('reads exactly the days that exist', () => {
    for (const year of [1900, 2000, 2096, 2097, 2100]) {
      for (let month = 1; month <= 12; month += 1) {
        const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
        for (let day = 1; day <= 31; day += 1) {
          const text = [year, month, day].map((part) => String(part).padStart(2, '0')).join('-');
          expect([text, readTime(text).ok]).toEqual([text, day <= days]);
        }
      }
    }
  });
});
