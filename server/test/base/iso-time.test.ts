/** Goal: times are written as `Date` writes them, whichever was written before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime } from '../../src/base/iso-time.js';

const FIRST = -62_198_755_200_000;
const LAST = 253_402_300_799_999;

describe('a time as text', () => {
  it('is the text that Date makes of it', () => {
    const near = fc.integer({ min: -3000, max: 3000 });
    const anywhere = fc.integer({ min: FIRST, max: LAST });
    fc.assert(
      fc.property(fc.array(fc.oneof(near, anywhere), { maxLength: 20 }), (times) => {
        expect(times.map(isoTime)).toEqual(times.map((ms) => new Date(ms).toISOString()));
      }),
    );
  });

  it('does not exist beyond the range of dates', () => {
    for (const ms of [Number.NaN, 9e15]) expect(() => isoTime(ms)).toThrow(RangeError);
    expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
